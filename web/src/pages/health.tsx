/** Is it well: what is critical, what needs a person, the hosts, each agent by its axes, and the invariants of this installation. */
import type { ReactNode } from 'react';
import type { RunnerBody } from '../../../src/client/wire.ts';
import { AgentLink } from '../parts/links.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Ago, Mark, Plain, Track } from '../parts/text.tsx';
import { type Health, useDoctor, useHealth, useRunnerList } from '../set-up/data.ts';
import { bytes, plural } from '../words/times.ts';

const words: Record<Health['overall'], string> = {
  healthy: 'all is well',
  degraded: 'something needs a person',
  critical: 'nothing can start',
};

const Issue = ({
  mark,
  agent,
  children,
}: {
  mark: 'failed' | 'waiting';
  agent: string | null;
  children: ReactNode;
}) => (
  <li className="entry">
    <span className="name flex items-center gap-2">
      <Mark status={mark} />
      {agent === null ? 'the fleet' : <AgentLink name={agent} />}
    </span>
    <span className="about">{children}</span>
  </li>
);

type Room = { memory_total: number; memory_available: number; disk_total: number; disk_available: number };

const Use = ({ label, total, free }: { label: string; total: number; free: number }) => (
  <div className="grid gap-1">
    <span className="text-small text-ink-3">
      {label}: {bytes(free)} free of {bytes(total)}
    </span>
    {total > 0 && <Track used={total - free} most={total} label={label} fullAt={total * 0.9} />}
  </div>
);

const RunnerRow = ({ row }: { row: RunnerBody & { live?: number; cgroup?: string | null; room?: Room | null } }) => (
  <li className="border-t border-line">
    <div className="entry border-t-0">
      <span className="name">
        <Plain text={row.name} />
      </span>
      <span className="about">
        {plural(row.live ?? 0, 'live process', 'live processes')}
        {row.slots != null && ` of ${row.slots}`} · isolation {row.isolation ?? 'not known'} ·{' '}
        {row.cgroup == null || row.cgroup === 'none'
          ? 'memory limits held by watching'
          : `memory limits by cgroup (${row.cgroup})`}
      </span>
      <span className="time">
        {row.last_seen === null ? (
          'not seen yet'
        ) : (
          <>
            seen <Ago at={row.last_seen} />
          </>
        )}
      </span>
    </div>
    {row.room != null && (
      <div className="grid gap-3 px-[14px] pb-3 sm:grid-cols-2">
        <Use label="Memory" total={row.room.memory_total} free={row.room.memory_available} />
        <Use label="Disk" total={row.room.disk_total} free={row.room.disk_available} />
      </div>
    )}
  </li>
);

const Axes = ({ agents }: { agents: Health['agents'] }) => (
  <ul>
    {agents.map((a) => (
      <li key={a.name} className="entry">
        <AgentLink name={a.name} className="name" />
        <span className="about">
          {a.desired_state === 'running' ? 'accepts work' : 'stopped'} ·{' '}
          {a.reachable ? 'a host is there for it' : 'no host is there for it'} · credential{' '}
          {a.credential === null ? 'of the host or the pool' : a.credential}
        </span>
        <span className="time">{a.alerts > 0 && <span className="chip flag">{plural(a.alerts, 'alert')}</span>}</span>
      </li>
    ))}
  </ul>
);

export const Page = () => {
  const health = useHealth();
  const runners = useRunnerList();
  const doctor = useDoctor();
  const h = health.data;
  const broken = doctor.data?.checks.filter((c) => !c.ok) ?? [];
  return (
    <>
      <PageHead title="Health" sub={h === undefined ? undefined : words[h.overall]} />
      <div className="grid gap-4">
        <Section
          title="What is wrong"
          error={health.error}
          none={h !== undefined && h.critical_issues.length + h.warnings.length === 0 ? 'Nothing.' : undefined}
        >
          {h === undefined && health.error === null && <Skeleton rows={3} />}
          <ul>
            {h?.critical_issues.map((i) => (
              <Issue key={`c${i.agent}${i.issue}`} mark="failed" agent={i.agent}>
                <Plain text={i.issue} />
              </Issue>
            ))}
            {h?.warnings.map((i) => (
              <Issue key={`w${i.agent}${i.issue}`} mark="waiting" agent={i.agent}>
                <Plain text={i.issue} />
              </Issue>
            ))}
          </ul>
        </Section>
        <Section
          title="Hosts"
          count={runners.data?.length}
          error={runners.error}
          none={
            runners.data?.length === 0
              ? 'No runner has ever been here. npm start brings one; other hosts: drover runner'
              : undefined
          }
        >
          <ul>
            {runners.data?.map((r) => (
              <RunnerRow key={r.id} row={r} />
            ))}
          </ul>
        </Section>
        <Section
          title="Invariants"
          error={doctor.error}
          none={doctor.data !== undefined && broken.length === 0 ? `All ${doctor.data.checks.length} hold.` : undefined}
        >
          <ul>
            {broken.map((c) => (
              <Issue key={c.name} mark="failed" agent={null}>
                <b>{c.name}</b>: {c.found}. Report this: it is a bug. <code>bin/drover doctor</code> says more.
              </Issue>
            ))}
          </ul>
        </Section>
        {h !== undefined && h.agents.length > 0 && (
          <Section title="Agents" count={h.agents.length}>
            <Axes agents={h.agents.slice(0, 200)} />
          </Section>
        )}
      </div>
    </>
  );
};

/** What waits, the oldest first: the reason that binds in words, its place, its age, and a way out of the queue for each. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { memo } from 'react';
import type { ExecutionBody } from '../../../src/client/wire.ts';
import type { WaitReason } from '../../../src/contract/limits.ts';
import { api, inWords, write } from '../api.ts';
import { useFilters } from '../executions/filters.tsx';
import { useRunList } from '../executions/use-run-list.ts';
import { keys } from '../live/keys.ts';
import { CancelButton } from '../now/cancel.tsx';
import { useAgents, useLimits } from '../now/data.ts';
import { Reason } from '../now/waiting.tsx';
import { ConfirmButton } from '../parts/confirm.tsx';
import { AgentLink, RunLink } from '../parts/links.tsx';
import { useMayEdit } from '../parts/me.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Mark, Plain, Since } from '../parts/text.tsx';
import { VirtualRows } from '../parts/virtual-rows.tsx';
import { headOf } from '../words/plain.ts';
import { reasonAlone } from '../words/reasons.ts';
import { count, plural } from '../words/times.ts';

const QueuedRow = memo(({ row }: { row: ExecutionBody }) => {
  const gone = row.status !== 'queued';
  return (
    <div className="row queue-row">
      <Mark status={row.status} />
      <AgentLink name={row.agent_name} />
      <RunLink className="open head" id={row.id}>
        <Plain text={headOf(row.message) || '(empty message)'} />
      </RunLink>
      <span className="time">
        <Since at={row.queued_at} />
      </span>
      <span className="act">{!gone && <CancelButton row={row} />}</span>
      <span className="why">{gone ? 'It does not wait any more' : <Reason row={row} />}</span>
    </div>
  );
});

const Reasons = () => {
  const { data: limits, error } = useLimits();
  const held = Object.entries(limits?.waiting_by_reason ?? {}) as [WaitReason, number][];
  return (
    <Section title="Why" error={error} none={limits !== undefined && held.length === 0 ? 'Nothing waits.' : undefined}>
      <ul>
        {held
          .sort((a, b) => b[1] - a[1])
          .map(([reason, n]) => (
            <li key={reason} className="gauge">
              <span className="name whitespace-normal">{reasonAlone(reason)}</span>
              <span className="figure">
                <b>{count(n)}</b>
              </span>
            </li>
          ))}
      </ul>
    </Section>
  );
};

const ClearButton = ({ name, queued }: { name: string; queued: number }) => {
  const queries = useQueryClient();
  const clear = useMutation({
    mutationFn: () => write(() => api.clearQueue(name)),
    onSuccess: ({ cancelled }) => {
      say(`${plural(cancelled, 'execution')} of ${name} cancelled; none of them had started.`);
      void queries.invalidateQueries({ queryKey: ['executions'] });
      void queries.invalidateQueries({ queryKey: keys.limits });
    },
    onError: sayProblem,
  });
  return (
    <ConfirmButton
      className="quiet small"
      disabled={clear.isPending}
      label={
        <>
          Cancel all<span className="hidden-label"> that wait for {name}</span>
        </>
      }
      title={`Cancel everything that waits for ${name}?`}
      about={
        <p>
          {plural(queued, 'execution')} will be cancelled and never start. What runs goes on. This cannot be undone.
        </p>
      }
      action={`Cancel ${count(queued)}`}
      danger
      onConfirm={() => clear.mutate()}
    />
  );
};

const ByAgent = () => {
  const mayEdit = useMayEdit();
  const agents = useAgents();
  const waits = (agents.data ?? [])
    .filter((a) => (a.queued ?? 0) > 0)
    .sort((a, b) => (b.queued ?? 0) - (a.queued ?? 0));
  if (waits.length === 0) return null;
  return (
    <Section title="For whom" count={waits.length}>
      <ul>
        {waits.slice(0, 20).map((a) => (
          <li key={a.name} className="gauge">
            <AgentLink name={a.name} className="name font-semibold" />
            <span className="figure">
              <b>{count(a.queued)}</b>
              {mayEdit && <ClearButton name={a.name} queued={a.queued ?? 0} />}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
};

export const Page = () => {
  const { data: limits } = useLimits();
  const [{ agent }] = useFilters();
  const list = useRunList({ status: 'queued', order: 'oldest', ...(agent !== undefined && { agent }) });
  const rows = list.data?.rows;
  return (
    <>
      <PageHead
        title="Queue"
        count={limits?.queued}
        sub={
          limits?.oldest_queued_at ? (
            <>
              the oldest waits for <Since at={limits.oldest_queued_at} />
            </>
          ) : undefined
        }
      />
      <div className="columns">
        <div className="column">
          <section className="section" aria-label="What waits">
            {list.error !== null && (
              <p className="problem pt-3" role="alert">
                {inWords(list.error)}
              </p>
            )}
            {rows === undefined && list.error === null && <Skeleton rows={10} />}
            {rows?.length === 0 && (
              <div className="nothing">Nothing waits: new work starts at once, as far as the limits allow.</div>
            )}
            {rows !== undefined && rows.length > 0 && (
              <VirtualRows
                label="What waits, the oldest first"
                rows={rows}
                keyOf={(row) => row.id}
                height={56}
                phoneHeight={78}
                onEnd={list.loadOlder}
                render={(row) => <QueuedRow row={row} />}
              />
            )}
          </section>
        </div>
        <aside className="column" aria-label="In sum">
          <Reasons />
          <ByAgent />
        </aside>
      </div>
    </>
  );
};

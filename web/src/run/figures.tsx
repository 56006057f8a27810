/** What was measured of a run: times, money, tokens, memory against its limit, the work that was kept. A dash is "not known". */
import type { ReactNode } from 'react';
import type { AttemptBody, ExecutionBody } from '../../../src/client/wire.ts';
import { RunLink } from '../parts/links.tsx';
import { Plain, Since, Track } from '../parts/text.tsx';
import { bytes, cost, count, lasted, notKnown, span } from '../words/times.ts';

const Figure = ({ name, children, wide }: { name: string; children: ReactNode; wide?: boolean }) => (
  <div className={wide ? 'wide' : undefined}>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const Against = ({ used, most, label }: { used: number | null; most: number | null; label: string }) =>
  used === null || most === null || most <= 0 ? null : (
    <Track used={used} most={most} label={label} fullAt={most * 0.9} />
  );

const heldBy: Record<string, string> = {
  cgroup_v2: 'by its cgroup',
  cgroup_v1: 'by its cgroup',
  systemd: 'by systemd',
  rss_watch: 'by watching it',
  none: 'not held',
};

const Memory = ({ memory }: { memory: NonNullable<AttemptBody['memory']> }) => (
  <Figure name="Memory peak">
    {bytes(memory.peak_bytes)} of {memory.limit_bytes === null ? 'no limit' : bytes(memory.limit_bytes)}{' '}
    <span className="muted">{memory.limit_bytes === null ? '' : (heldBy[memory.held_by] ?? memory.held_by)}</span>
    <Against used={memory.peak_bytes} most={memory.limit_bytes} label="Memory" />
  </Figure>
);

const Work = ({ work }: { work: NonNullable<AttemptBody['workspace']> }) => (
  <Figure name="Work" wide>
    {work.files_changed !== null && (
      <>
        {count(work.files_changed)} {work.files_changed === 1 ? 'file' : 'files'} changed{' '}
        <span className="plus">+{count(work.insertions)}</span> <span className="minus">
          −{count(work.deletions)}
        </span>{' '}
      </>
    )}
    <span className="muted">{work.mode}</span>{' '}
    <span className="mono">
      <Plain text={work.ref ?? work.path} />
    </span>
    {work.keep_error !== null && (
      <div className="problem">
        Not kept: <Plain text={work.keep_error} />
      </div>
    )}
  </Figure>
);

/** Nothing known of either: one dash, not two. */
const pair = (one: number | null | undefined, other: number | null | undefined, between: string): string =>
  one == null && other == null ? notKnown : `${count(one)}${between}${count(other)}`;

export const Figures = ({ row }: { row: ExecutionBody }) => {
  const last = row.attempts?.filter((a) => !a.late).at(-1);
  const denied = last?.denied_tools ?? [];
  return (
    <section className="part" aria-label="Figures">
      <h3>Figures</h3>
      <dl className="figures">
        <Figure name="Ran">
          {row.completed_at === null && row.started_at !== null ? (
            <Since at={row.started_at} />
          ) : (
            lasted(row.duration_ms)
          )}
          {row.timeout_seconds !== undefined && (
            <span className="muted"> of at most {span(row.timeout_seconds * 1000)}</span>
          )}
        </Figure>
        <Figure name="Waited">
          {row.status === 'queued' ? <Since at={row.queued_at} /> : span(row.queued_ms ?? null)}
        </Figure>
        <Figure name="Cost">
          {cost(row.cost, row.cost_kind)}
          {row.cost_estimated === true && <span className="muted"> estimated</span>}
        </Figure>
        <Figure name="Turns, tool calls">{pair(row.turns, row.tool_calls, ', ')}</Figure>
        <Figure name="Tokens in, out">{pair(row.input_tokens, row.output_tokens, ', ')}</Figure>
        <Figure name="Context">
          {pair(row.context_used, row.context_max, ' of ')}
          <Against used={row.context_used} most={row.context_max} label="Context" />
        </Figure>
        {last?.memory && <Memory memory={last.memory} />}
        <Figure name="Exit">
          {last?.signal ??
            (last?.exit_code === null || last?.exit_code === undefined ? notKnown : `code ${last.exit_code}`)}
        </Figure>
        <Figure name="Isolation">{last?.isolation ?? notKnown}</Figure>
        {denied.length > 0 && (
          <Figure name="Tools that were blocked" wide>
            <span className="mono">
              <Plain text={denied.join(', ')} />
            </span>
          </Figure>
        )}
        {last?.workspace && <Work work={last.workspace} />}
        {row.parent_execution_id && (
          <Figure name="Called by" wide>
            <RunLink className="link mono" id={row.parent_execution_id}>
              {row.parent_execution_id}
            </RunLink>
          </Figure>
        )}
      </dl>
    </section>
  );
};

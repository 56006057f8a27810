/** What runs, and what waits inside for another agent: since when, at what, in which tool. */
import type { ExecutionBody } from '../../../src/client/wire.ts';
import { AgentLink, RunLink } from '../parts/links.tsx';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Mark, Plain, Since } from '../parts/text.tsx';
import { headOf } from '../words/plain.ts';
import { plural } from '../words/times.ts';
import { CancelButton } from './cancel.tsx';
import { useActiveTool, useLimits, useRunning } from './data.ts';

/** So many rows ask for their tool: each is a request of its own, every three seconds. */
const toolsAsked = 24;

const RunningRow = ({ row, askTool }: { row: ExecutionBody; askTool: boolean }) => {
  const tool = useActiveTool(row, askTool);
  return (
    <li className="row">
      <Mark status={row.status} />
      <AgentLink name={row.agent_name} />
      <RunLink className="open head" id={row.id}>
        <Plain text={headOf(row.message) || '(empty message)'} />
      </RunLink>
      <span className="chips">
        {row.status === 'waiting' && <span className="chip">waits for another agent</span>}
        {row.silent && <span className="chip flag">runner silent</span>}
        {(row.attempt ?? 1) > 1 && <span className="chip">attempt {row.attempt}</span>}
        {tool !== null && row.status !== 'waiting' && <span className="chip mono">{headOf(tool, 40)}</span>}
      </span>
      <span className="time">
        {row.started_at === null ? <span className="muted">starting</span> : <Since at={row.started_at} />}
      </span>
      <span className="act">
        <CancelButton row={row} />
      </span>
    </li>
  );
};

export const Running = () => {
  const running = useRunning();
  const limits = useLimits();
  const rows = running.data ?? [];
  const total = limits.data === undefined ? rows.length : limits.data.running + limits.data.waiting;
  return (
    <Section
      title="Running"
      count={running.data === undefined && limits.data === undefined ? undefined : Math.max(total, rows.length)}
      error={running.error}
      none={running.data?.length === 0 ? 'Nothing runs now.' : undefined}
    >
      {running.data === undefined && !running.error && <Skeleton rows={3} />}
      <ul>
        {rows.map((row, place) => (
          <RunningRow key={row.id} row={row} askTool={place < toolsAsked} />
        ))}
      </ul>
      {total > rows.length && rows.length > 0 && (
        <p className="more-rows">{plural(total - rows.length, 'more run', 'more runs')}: bin/drover ps</p>
      )}
    </Section>
  );
};

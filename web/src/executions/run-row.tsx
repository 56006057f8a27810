/** One execution as one line (two on a phone): state, agent, what was asked, how it ended, when, how long, what it cost. */
import { memo } from 'react';
import type { ExecutionBody } from '../../../src/client/wire.ts';
import { isTerminal } from '../../../src/contract/status.ts';
import { useExecution } from '../now/data.ts';
import { causeTitle } from '../now/ended.tsx';
import { Reason } from '../now/waiting.tsx';
import { AgentLink, RunLink } from '../parts/links.tsx';
import { Ago, Mark, Plain, Since } from '../parts/text.tsx';
import { headOf } from '../words/plain.ts';
import { attentionInWords } from '../words/reasons.ts';
import { triggerWords } from '../words/states.ts';
import { cost, lasted } from '../words/times.ts';

interface Shown {
  row: ExecutionBody;
  /** In a list of one agent: its name is not said in each row. */
  ofAgent?: boolean;
}

/** A row that has not ended may be far down the list, where nothing is read again: it is read by itself while it is seen. */
const OpenRow = ({ row, ofAgent }: Shown) => <Line row={useExecution(row.id).data ?? row} ofAgent={ofAgent} />;

export const RunRow = memo(({ row, ofAgent }: Shown) =>
  isTerminal(row.status) ? <Line row={row} ofAgent={ofAgent} /> : <OpenRow row={row} ofAgent={ofAgent} />,
);

const Line = ({ row, ofAgent = false }: Shown) => {
  const over = isTerminal(row.status);
  return (
    <div className="row run-row" data-status={row.status}>
      <Mark status={row.status} />
      {ofAgent ? (
        <span className="agent muted">{triggerWords[row.triggered_by] ?? row.triggered_by}</span>
      ) : (
        <AgentLink name={row.agent_name} />
      )}
      <RunLink className="open head" id={row.id}>
        {row.status === 'failed' && <span className="cause">{causeTitle(row.cause)}</span>}
        <Plain text={headOf(row.message) || '(empty message)'} />
      </RunLink>
      <span className="chips">
        {row.status === 'queued' && (
          <span className="why">
            <Reason row={row} short />
          </span>
        )}
        {row.attention.slice(0, 1).map((flag) => (
          <span key={flag} className="chip flag">
            {attentionInWords(flag)}
          </span>
        ))}
        {(row.attempt ?? 1) > 1 && <span className="chip">attempt {row.attempt}</span>}
      </span>
      <span className="figure">{row.cost !== null && row.cost > 0 ? cost(row.cost, row.cost_kind) : ''}</span>
      <span className="figure">
        {over ? lasted(row.duration_ms) : row.started_at === null ? '' : <Since at={row.started_at} />}
      </span>
      <span className="time">
        <Ago at={row.completed_at ?? row.queued_at} />
      </span>
    </div>
  );
};

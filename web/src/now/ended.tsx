/** The last endings. A failure shows its cause, the evidence and what to do; a success stays one quiet line. */
import { useState } from 'react';
import type { ExecutionBody } from '../../../src/client/wire.ts';
import { type Cause, causes } from '../../../src/contract/causes.ts';
import { AgentLink, RunLink } from '../parts/links.tsx';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Ago, Mark, Plain } from '../parts/text.tsx';
import { below, headOf } from '../words/plain.ts';
import { attentionInWords } from '../words/reasons.ts';
import { cost, count, lasted } from '../words/times.ts';
import { useEnded } from './data.ts';

/** A cause of a newer server is shown by its own name. */
export const causeTitle = (cause: Cause | null): string =>
  cause === null ? 'Not known' : (causes[cause]?.title ?? cause.replaceAll('_', ' '));
/** What can be done; empty when the message says it already. */
export const adviceFor = (row: Pick<ExecutionBody, 'cause' | 'error'>): string => {
  const advice = row.cause === null ? '' : (causes[row.cause]?.advice ?? '');
  return row.error?.includes(advice) ? '' : advice;
};

/** What decided; else what was said about it. */
const evidenceOf = (row: ExecutionBody): string => row.verdict?.evidence[0] ?? row.error ?? '';

const EndedRow = ({ row }: { row: ExecutionBody }) => {
  const failed = row.status === 'failed';
  const evidence = failed ? headOf(evidenceOf(row), 320) : '';
  const advice = failed ? adviceFor(row) : '';
  const error = failed ? headOf(below(causeTitle(row.cause), row.error), 320) : '';
  return (
    <li className="row ended" data-status={row.status}>
      <Mark status={row.status} />
      <AgentLink name={row.agent_name} />
      <div className="line">
        <RunLink className="open head" id={row.id}>
          {failed && <span className="cause">{causeTitle(row.cause)}</span>}
          <Plain text={headOf(row.message) || '(empty message)'} />
        </RunLink>
        {error !== '' && (
          <div className="said">
            <Plain text={error} />
          </div>
        )}
        {failed && (
          <div className="evidence">
            {evidence !== '' && evidence !== error && <Plain text={evidence} />}
            {evidence !== '' && evidence !== error && advice !== '' && ' · '}
            {advice}
          </div>
        )}
      </div>
      <span className="chips">
        {row.attention.map((flag) => (
          <span key={flag} className="chip flag">
            {attentionInWords(flag)}
          </span>
        ))}
        {row.cost !== null && row.cost > 0 && <span className="chip">{cost(row.cost, row.cost_kind)}</span>}
      </span>
      <span className="time">
        <Ago at={row.completed_at} />
      </span>
      <span className="figure" title="duration">
        {lasted(row.duration_ms)}
      </span>
    </li>
  );
};

const shownAtFirst = 20;

export const Ended = () => {
  const ended = useEnded();
  const [all, setAll] = useState(false);
  const rows = ended.data ?? [];
  const shown = all ? rows : rows.slice(0, shownAtFirst);
  const failures = rows.filter((r) => r.status === 'failed').length;
  return (
    <Section
      title="Last endings"
      more={
        rows.length > 0 ? `${failures === 0 ? 'none' : count(failures)} of ${count(rows.length)} failed` : undefined
      }
      error={ended.error}
      none={ended.data?.length === 0 ? 'Nothing has ended yet.' : undefined}
    >
      {ended.data === undefined && !ended.error && <Skeleton rows={6} />}
      <ul>
        {shown.map((row) => (
          <EndedRow key={row.id} row={row} />
        ))}
      </ul>
      {rows.length > shown.length && (
        <p className="more-rows">
          <button type="button" className="quiet small" onClick={() => setAll(true)}>
            Show {count(rows.length - shown.length)} more
          </button>
        </p>
      )}
    </Section>
  );
};

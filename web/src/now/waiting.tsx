/** What waits and why: the one reason that binds, in words, its place, and how long it has waited. */
import { useState } from 'react';
import type { ExecutionBody } from '../../../src/client/wire.ts';
import { useNow } from '../clock.ts';
import { AgentLink, RunLink } from '../parts/links.tsx';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Mark, Plain, Since } from '../parts/text.tsx';
import { headOf } from '../words/plain.ts';
import { placeInWords, reasonInWords } from '../words/reasons.ts';
import { count } from '../words/times.ts';
import { useZone } from '../zone.ts';
import { CancelButton } from './cancel.tsx';
import { listed, useCaps, useLimits, useQueued } from './data.ts';

/** `short`: the reason alone, where the place stands elsewhere or not at all. */
export const Reason = ({ row, short = false }: { row: ExecutionBody; short?: boolean }) => {
  const caps = useCaps();
  const now = useNow();
  const zone = useZone();
  if (row.wait === null) return <>Its reason is read with the next change</>;
  const words = <b>{reasonInWords(row.wait, caps(row.agent_name), now, zone)}</b>;
  if (short) return words;
  return (
    <>
      {words} · {placeInWords(row.wait)}
    </>
  );
};

const WaitingRow = ({ row }: { row: ExecutionBody }) => (
  <li className="row waits">
    <Mark status={row.status} />
    <AgentLink name={row.agent_name} />
    <RunLink className="open head" id={row.id}>
      <Plain text={headOf(row.message) || '(empty message)'} />
    </RunLink>
    <span className="chips">{(row.attempt ?? 0) > 0 && <span className="chip">after attempt {row.attempt}</span>}</span>
    <span className="time">
      <Since at={row.queued_at} />
    </span>
    <span className="act">
      <CancelButton row={row} />
    </span>
    <span className="why">
      <Reason row={row} />
    </span>
  </li>
);

const shownAtFirst = 12;

export const Waiting = () => {
  const [all, setAll] = useState(false);
  const queued = useQueued(all ? listed : shownAtFirst);
  const limits = useLimits();
  const rows = queued.data ?? [];
  const total = Math.max(limits.data?.queued ?? 0, rows.length);
  return (
    <Section
      title="Waiting"
      count={queued.data === undefined && limits.data === undefined ? undefined : total}
      more={
        limits.data?.oldest_queued_at ? (
          <>
            oldest <Since at={limits.data.oldest_queued_at} />
          </>
        ) : undefined
      }
      error={queued.error}
      none={queued.data?.length === 0 ? 'Nothing waits.' : undefined}
    >
      {queued.data === undefined && !queued.error && <Skeleton rows={3} />}
      <ul>
        {rows.map((row) => (
          <WaitingRow key={row.id} row={row} />
        ))}
      </ul>
      {total > rows.length && rows.length > 0 && (
        <p className="more-rows">
          {all ? (
            `${count(total - rows.length)} newer ones are counted, not listed`
          ) : (
            <button type="button" className="quiet small" onClick={() => setAll(true)}>
              Show {count(Math.min(total, listed) - rows.length)} more
            </button>
          )}
        </p>
      )}
    </Section>
  );
};

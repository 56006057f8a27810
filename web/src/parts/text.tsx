/** Text of agents and people, times that tick, marks and bars: what every part of the page is made of. */
import type { ReactNode } from 'react';
import type { ExecutionStatus } from '../../../src/contract/execution.ts';
import { useNow } from '../clock.ts';
import { plainText } from '../words/plain.ts';
import { stateWords } from '../words/states.ts';
import { ago, exactTime, msOf, span } from '../words/times.ts';
import { useZone } from '../zone.ts';

/** The only way in which text of an agent reaches the page: cleaned, as a text node, its direction kept to itself. */
export const Plain = ({ text, block = false }: { text: string; block?: boolean }) => (
  <bdi className={block ? 'plain block' : 'plain'}>{plainText(text)}</bdi>
);

export const Since = ({ at }: { at: string | null | undefined }) => {
  const now = useNow();
  const zone = useZone();
  const then = msOf(at);
  return (
    <time dateTime={at ?? undefined} title={exactTime(then, zone)}>
      {then === null ? span(null) : span(now - then)}
    </time>
  );
};

export const Ago = ({ at }: { at: string | null | undefined }) => {
  const now = useNow();
  const zone = useZone();
  const then = msOf(at);
  return (
    <time dateTime={at ?? undefined} title={exactTime(then, zone)}>
      {ago(then, now)}
    </time>
  );
};

/** Form and colour both tell the state: a ring with a core runs, a half ring waits, a tick, a cross, a dash. */
const shapes: Record<ExecutionStatus, ReactNode> = {
  queued: <circle cx="6" cy="6" r="4.2" strokeDasharray="2.2 2.2" />,
  running: (
    <>
      <circle cx="6" cy="6" r="5" strokeWidth="1.2" />
      <circle cx="6" cy="6" r="2.6" className="core" stroke="none" />
    </>
  ),
  waiting: <path d="M4 2.5v7M8 2.5v7" />,
  success: <path d="M2 6.5l2.8 2.8L10 3.5" />,
  failed: <path d="M2.8 2.8l6.4 6.4M9.2 2.8L2.8 9.2" />,
  cancelled: <path d="M2.5 6h7" />,
  skipped: <path d="M3 3l3 3-3 3M7 3l3 3-3 3" />,
};

export const Mark = ({ status }: { status: ExecutionStatus }) => (
  <svg className="mark" data-status={status} viewBox="0 0 12 12" role="img" aria-label={stateWords[status] ?? status}>
    {shapes[status]}
  </svg>
);

interface Use {
  used: number;
  most: number;
  label: string;
  /** From here on it is shown as full. */
  fullAt?: number;
}

const meterOf = ({ used, most, label, fullAt = most }: Use) => ({
  role: 'meter',
  'aria-label': label,
  'aria-valuemin': 0,
  'aria-valuemax': most,
  'aria-valuenow': Math.min(used, most),
  'aria-valuetext': `${used} of ${most}`,
  'data-full': used >= fullAt,
});

export const Track = (use: Use) => (
  <div className="track" {...meterOf(use)}>
    <i style={{ width: `${Math.min(100, (use.used / use.most) * 100)}%` }} />
  </div>
);

/** Cells up to 16, above it a track: cells that are too thin cannot be counted anyway. */
export const Occupancy = (use: Use) =>
  use.most > 16 ? (
    <Track {...use} />
  ) : (
    <div className="cells" {...meterOf(use)}>
      {Array.from({ length: use.most }, (_, place) => place).map((place) => (
        <i key={place} className={place < use.used ? 'on' : undefined} />
      ))}
    </div>
  );

/** Text of agents and people, times that tick, marks and bars: what every part of the page is made of. */
import type { ReactNode } from 'react';
import type { ExecutionStatus } from '../../../src/contract/execution.ts';
import { useNow } from '../clock.ts';
import { plainText } from '../words/plain.ts';
import { ago, clockTime, msOf, span } from '../words/times.ts';

/** The only way in which text of an agent reaches the page: cleaned, as a text node, its direction kept to itself. */
export const Plain = ({ text, block = false }: { text: string; block?: boolean }) => (
  <bdi className={block ? 'plain block' : 'plain'}>{plainText(text)}</bdi>
);

export const Since = ({ at }: { at: string | null | undefined }) => {
  const now = useNow();
  const then = msOf(at);
  return <time title={clockTime(then, now)}>{then === null ? span(null) : span(now - then)}</time>;
};

export const Ago = ({ at }: { at: string | null | undefined }) => {
  const now = useNow();
  const then = msOf(at);
  return <time title={clockTime(then, now)}>{ago(then, now)}</time>;
};

const names: Record<ExecutionStatus, string> = {
  queued: 'queued',
  running: 'running',
  waiting: 'waiting for another agent',
  success: 'success',
  failed: 'failed',
  cancelled: 'cancelled',
  skipped: 'skipped',
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
  <svg className="mark" data-status={status} viewBox="0 0 12 12" role="img" aria-label={names[status] ?? status}>
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

const icons = {
  pause: <path d="M4.5 3v8M9.5 3v8" />,
  play: <path d="M4 2.5l7 4.5-7 4.5z" />,
  close: <path d="M3 3l8 8M11 3l-8 8" />,
  copy: <path d="M5 5h6.5v6.5H5zM9 2.5H2.5V9" />,
  done: <path d="M2.5 7.5l3 3 6-7" />,
  sun: (
    <>
      <circle cx="7" cy="7" r="2.6" />
      <path d="M7 1v1.4M7 11.6V13M1 7h1.4M11.6 7H13M2.8 2.8l1 1M10.2 10.2l1 1M11.2 2.8l-1 1M3.8 10.2l-1 1" />
    </>
  ),
  moon: <path d="M11.5 8.6A5 5 0 015.4 2.5a5 5 0 106.1 6.1z" />,
  system: <path d="M1.5 2.5h11v7h-11zM5 12h4" />,
};
export const Icon = ({ name }: { name: keyof typeof icons }) => (
  <svg className="icon" viewBox="0 0 14 14" aria-hidden="true">
    {icons[name]}
  </svg>
);

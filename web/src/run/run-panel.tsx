/** One run beside the page: how it stands, why it ended so, its life, its figures, its transcript. Escape closes it. */
import { useEffect, useRef, useState } from 'react';
import { ApiError } from '../../../src/client/request.ts';
import type { ExecutionBody } from '../../../src/client/wire.ts';
import { isTerminal } from '../../../src/contract/status.ts';
import { inWords } from '../api.ts';
import { CancelButton } from '../now/cancel.tsx';
import { useExecution } from '../now/data.ts';
import { Reason } from '../now/waiting.tsx';
import { Ago, Icon, Mark, Plain, Since } from '../parts/text.tsx';
import { closeExecution } from '../route.ts';
import { Figures } from './figures.tsx';
import { Life } from './life-list.tsx';
import { Transcript } from './transcript.tsx';
import { VerdictBox } from './verdict-box.tsx';

const words = {
  queued: 'waiting',
  running: 'running',
  waiting: 'waiting for another agent',
  success: 'success',
  failed: 'failed',
  cancelled: 'cancelled',
  skipped: 'skipped',
} as const;

const Standing = ({ row }: { row: ExecutionBody }) => (
  <>
    {words[row.status] ?? row.status}
    {row.status === 'queued' ? (
      <>
        {' '}
        for <Since at={row.queued_at} />
      </>
    ) : isTerminal(row.status) ? (
      <>
        {' '}
        <Ago at={row.completed_at} />
      </>
    ) : row.started_at !== null ? (
      <>
        {' '}
        for <Since at={row.started_at} />
      </>
    ) : null}
  </>
);

const Text = ({ title, text }: { title: string; text: string }) => (
  <section className="part" aria-label={title}>
    <h3>{title}</h3>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
    <div className="long" tabIndex={0}>
      <Plain text={text} block />
    </div>
  </section>
);

const Body = ({ row }: { row: ExecutionBody }) => (
  <>
    {row.status === 'queued' && (
      <p className="verdict">
        <Reason row={row} />
      </p>
    )}
    {isTerminal(row.status) && <VerdictBox row={row} />}
    <Text title="Message" text={row.message === '' ? '(empty message)' : row.message} />
    {row.response !== null && row.response !== '' && <Text title="Answer" text={row.response} />}
    <Life row={row} />
    <Figures row={row} />
    <Transcript row={row} />
  </>
);

export const RunPanel = ({ id }: { id: string }) => {
  const run = useExecution(id);
  const heading = useRef<HTMLHeadingElement>(null);
  const [cameFrom] = useState(() => document.activeElement);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    const onKey = (e: KeyboardEvent) => {
      // A dialog above it takes the Escape for itself.
      if (e.key === 'Escape' && document.querySelector('dialog[open]') === null) closeExecution();
    };
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('keydown', onKey);
      if (cameFrom instanceof HTMLElement && cameFrom.isConnected) cameFrom.focus({ preventScroll: true });
    };
  }, [cameFrom]);
  const row = run.data;
  const missing = run.error instanceof ApiError && run.error.status === 404;
  return (
    <aside className="panel" aria-label="Run">
      <header>
        {row === undefined ? <span /> : <Mark status={row.status} />}
        <h2 ref={heading} tabIndex={-1}>
          {row?.agent_name ?? 'Run'}
        </h2>
        <p className="sub">
          {row !== undefined && (
            <>
              <Standing row={row} /> ·{' '}
            </>
          )}
          <span className="mono">{id}</span>
        </p>
        <div className="side">
          {row !== undefined && !isTerminal(row.status) && <CancelButton row={row} className="danger" />}
          <button type="button" className="quiet" onClick={closeExecution}>
            <Icon name="close" />
            <span className="hidden-label">Close</span>
          </button>
        </div>
      </header>
      <div className="body">
        {run.error !== null && (
          <p className="problem part" role="alert">
            {missing ? 'There is no such run: it may be older than what is kept.' : inWords(run.error)}
          </p>
        )}
        {row !== undefined && <Body row={row} />}
      </div>
    </aside>
  );
};

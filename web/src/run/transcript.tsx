/**
 * The transcript of a run, live. Only a window of the newest blocks is in the page, older ones on demand; a run that grows is
 * followed while its end is on the screen. Everything in it is text of an agent and is shown as text.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { ExecutionBody } from '../../../src/client/wire.ts';
import { count } from '../words/times.ts';
import { BlockView } from './block-view.tsx';
import { useTranscript } from './use-transcript.ts';

const windowSize = 150;

const stateWords = { reading: 'reading…', live: 'live', ended: '', broken: '' } as const;

export const Transcript = ({ row }: { row: ExecutionBody }) => {
  const read = useTranscript(row.id);
  const [extra, setExtra] = useState(0);
  const end = useRef<HTMLDivElement>(null);
  const follows = useRef(false);
  useEffect(() => {
    const body = document.documentElement;
    const look = () => {
      follows.current = body.scrollTop > 0 && body.scrollHeight - body.scrollTop - body.clientHeight < 60;
    };
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end moves when blocks come, and only then
  useLayoutEffect(() => {
    if (follows.current) end.current?.scrollIntoView({ block: 'end' });
  }, [read.blocks]);

  const hidden = Math.max(0, read.blocks.length - windowSize - extra);
  const shown = read.blocks.slice(hidden);
  const over = read.state === 'ended';
  return (
    <section className="part" aria-label="Transcript">
      <div className="transcript-head">
        <h3>Transcript</h3>
        <span className="state">{over || row.status === 'queued' ? '' : stateWords[read.state]}</span>
        {shown.length > 8 && (
          <span className="side">
            <button
              type="button"
              className="quiet small"
              onClick={() => {
                follows.current = true;
                end.current?.scrollIntoView({ block: 'end' });
              }}
            >
              To the end
            </button>
          </span>
        )}
      </div>
      {read.why !== '' && read.state === 'broken' && <p className="problem">{read.why}</p>}
      {hidden > 0 ? (
        <button type="button" className="quiet small" onClick={() => setExtra(extra + windowSize)}>
          Show {count(Math.min(windowSize, hidden))} of {count(hidden)} earlier entries
        </button>
      ) : (
        read.dropped > 0 && (
          <p className="muted">
            {count(read.dropped)} earlier entries: bin/drover logs {row.id}
          </p>
        )
      )}
      {shown.length === 0 && read.state !== 'broken' && (
        <p className="muted">
          {over ? 'It left no transcript.' : row.status === 'queued' ? 'It has not begun.' : 'Nothing yet.'}
        </p>
      )}
      <ol className="transcript" aria-live="off">
        {shown.map((block) => (
          <BlockView key={block.id} block={block} over={over} />
        ))}
      </ol>
      <div ref={end} />
    </section>
  );
};

/**
 * The transcript of a run, live and virtual: of thousands of entries those on the screen are in the page, each as high as it is. A run
 * that grows is followed while its end is on the screen. Everything in it is text of an agent and is shown as text.
 */
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { ExecutionBody } from '../../../src/client/wire.ts';
import type { Block } from '../transcript/fold.ts';
import { count } from '../words/times.ts';
import { BlockView, Opened } from './block-view.tsx';
import { useTranscript } from './use-transcript.ts';

const stateWords = { reading: 'reading…', live: 'live', ended: '', broken: '' } as const;

/** Before it is measured: a line of text, a folded line. */
const guess = { said: 44, result: 70, output: 90, thought: 36, tool: 36, note: 36 } as const;

const Blocks = ({ blocks, over }: { blocks: readonly Block[]; over: boolean }) => {
  const list = useRef<HTMLOListElement>(null);
  const [top, setTop] = useState(0);
  // What was opened stays open when it is scrolled away and back.
  const [opened] = useState(() => new Set<number>());
  useLayoutEffect(() => {
    const at = Math.round((list.current?.getBoundingClientRect().top ?? 0) + scrollY);
    if (at !== top) setTop(at);
  });
  const virtual = useWindowVirtualizer({
    count: blocks.length,
    estimateSize: (place) => guess[blocks[place]!.kind],
    overscan: 10,
    scrollMargin: top,
    getItemKey: (place) => blocks[place]!.id,
  });
  return (
    <Opened value={opened}>
      <ol ref={list} className="transcript" aria-live="off" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => (
          <li
            key={item.key}
            ref={virtual.measureElement}
            data-index={item.index}
            style={{ transform: `translateY(${item.start - top}px)` }}
            aria-posinset={item.index + 1}
            aria-setsize={over ? blocks.length : -1}
          >
            <BlockView block={blocks[item.index]!} over={over} />
          </li>
        ))}
      </ol>
    </Opened>
  );
};

export const Transcript = ({ row }: { row: ExecutionBody }) => {
  const read = useTranscript(row.id);
  const end = useRef<HTMLDivElement>(null);
  const follows = useRef(false);
  useEffect(() => {
    const look = () => {
      const at = end.current?.getBoundingClientRect().top ?? Number.POSITIVE_INFINITY;
      follows.current = scrollY > 0 && at < innerHeight + 60;
    };
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end moves when blocks come, and only then
  useLayoutEffect(() => {
    if (follows.current) end.current?.scrollIntoView({ block: 'end' });
  }, [read.blocks]);
  const over = read.state === 'ended';
  return (
    <section className="part" aria-label="Transcript">
      <div className="transcript-head">
        <h3>Transcript</h3>
        <span className="state">{over || row.status === 'queued' ? '' : stateWords[read.state]}</span>
        {read.blocks.length > 8 && (
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
      {read.dropped > 0 && (
        <p className="muted">
          {count(read.dropped)} earlier entries: bin/drover logs {row.id}
        </p>
      )}
      {read.blocks.length === 0 && read.state !== 'broken' && (
        <p className="muted">
          {over ? 'It left no transcript.' : row.status === 'queued' ? 'It has not begun.' : 'Nothing yet.'}
        </p>
      )}
      {read.blocks.length > 0 && <Blocks blocks={read.blocks} over={over} />}
      <div ref={end} className="scroll-mb-20" />
    </section>
  );
};

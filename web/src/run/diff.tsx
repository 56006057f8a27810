/** The work as a diff, when it is asked for: added and removed lines told apart by their sign and by colour. Text of an agent. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ExecutionBody } from '../../../src/client/wire.ts';
import { api, inWords } from '../api.ts';
import { keys } from '../live/keys.ts';
import { Skeleton } from '../parts/skeleton.tsx';
import { Plain } from '../parts/text.tsx';
import { plural } from '../words/times.ts';

type Tone = 'add' | 'del' | 'head' | 'plain';
const toneOf = (line: string): Tone =>
  line.startsWith('diff --git') || line.startsWith('@@') || line.startsWith('+++') || line.startsWith('---')
    ? 'head'
    : line.startsWith('+')
      ? 'add'
      : line.startsWith('-')
        ? 'del'
        : 'plain';

/** Lines of one tone are one node: a diff of 5,000 lines is some hundreds of them. */
const piecesOf = (text: string): { tone: Tone; text: string; at: number }[] => {
  const pieces: { tone: Tone; text: string; at: number }[] = [];
  text.split('\n').forEach((line, at) => {
    const tone = toneOf(line);
    const last = pieces.at(-1);
    if (last?.tone === tone) last.text += `\n${line}`;
    else pieces.push({ tone, text: line, at });
  });
  return pieces;
};

export const WorkDiff = ({ row }: { row: ExecutionBody }) => {
  const [open, setOpen] = useState(false);
  const work = row.attempts?.findLast((a) => a.workspace?.ref)?.workspace;
  const diff = useQuery({
    queryKey: [...keys.execution(row.id), 'diff'],
    queryFn: () => api.diff(row.id),
    enabled: open,
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: false,
  });
  if (!work) return null;
  return (
    <section className="part" aria-label="Work">
      <details className="work-diff" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary>
          <h3 className="work-diff-head">Work</h3>
          <span>
            {work.files_changed === null ? 'kept' : `${plural(work.files_changed, 'file')} changed`}{' '}
            {work.insertions !== null && <span className="plus">+{work.insertions}</span>}{' '}
            {work.deletions !== null && <span className="minus">−{work.deletions}</span>}
          </span>
          <span className="muted">{open ? 'hide the diff' : 'show the diff'}</span>
        </summary>
        {diff.isError && (
          <p className="problem" role="alert">
            {inWords(diff.error)}
          </p>
        )}
        {open && diff.data === undefined && !diff.isError && <Skeleton rows={5} />}
        {diff.data !== undefined && diff.data.diff === null && (
          <p className="muted">
            <Plain text={diff.data.note ?? ''} />
          </p>
        )}
        {diff.data?.diff === '' && <p className="muted">It changed nothing.</p>}
        {diff.data?.diff && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
          <pre className="diff" tabIndex={0}>
            {piecesOf(diff.data.diff).map((p) => (
              <span key={p.at} data-tone={p.tone}>
                <Plain text={p.text} block />
              </span>
            ))}
          </pre>
        )}
        {diff.data?.truncated && <p className="muted">The diff goes on; all of it is under {diff.data.ref}.</p>}
      </details>
    </section>
  );
};

/**
 * Follows one execution till it ends, by its id alone: server restarts and dropped lines are waited out. Two things run side
 * by side: the row, asked for once a second, which alone says how it stands and when it has ended; and the live stream of
 * its transcript, which only shows. The first Ctrl-C cancels the run, the second stops watching.
 */
import { ApiError } from '../client/request.ts';
import type { ExecutionBody } from '../client/wire.ts';
import { isTerminal } from '../contract/status.ts';
import type { Context } from './context.ts';
import { CliFailure } from './failure.ts';
import { type Line, linesOf } from './show/transcript.ts';
import { waitingFor } from './show/waiting.ts';
import { transcriptFeed } from './transcript-feed.ts';

export type Watched =
  | { kind: 'ended'; row: ExecutionBody; lastText: string | null }
  | { kind: 'detached'; row: ExecutionBody | null }
  | { kind: 'out_of_wait'; row: ExecutionBody | null };

/** How often the row is asked for: what a person sees as at once, and one cheap read a second for the server. */
const lookMs = 1000;
/** A server that does not come back for this long is not restarting. */
const awayMs = 10 * 60_000;
/** The stream's last lines, once the row has ended. */
const drainMs = 2000;

export const watch = async (context: Context, id: string, options: { waitMs: number | null }): Promise<Watched> => {
  const { terminal } = context;
  const over = new AbortController();
  const looking = new AbortController();
  const note = (text: string) => {
    if (!context.json) terminal.err(`${terminal.paint('err', 'dim', text)}\n`);
  };
  let detached = false;
  let cancelled = false;
  const letGo = terminal.onInterrupt(() => {
    if (cancelled) {
      detached = true;
      looking.abort();
      return;
    }
    cancelled = true;
    terminal.err('\nCancelling it. Ctrl-C again stops watching; the run then ends by itself.\n');
    context
      .connection()
      .api.terminate(id, 'Ctrl-C in drover run')
      .catch((e: unknown) =>
        terminal.err(`The cancel did not arrive: ${e instanceof Error ? e.message : String(e)}\n`),
      );
  });
  note(`${id}${terminal.inIsTty ? '  (Ctrl-C cancels it, twice leaves it alone)' : ''}`);

  const screen = { lastText: null as string | null };
  // The stream's end wakes the look at the row, so that the ending is told at once.
  let nudge = new AbortController();
  const streaming = showStream(context, id, over.signal, screen).then(() => nudge.abort());
  const deadline = options.waitMs === null ? Number.POSITIVE_INFINITY : context.now() + options.waitMs;
  let row: ExecutionBody | null = null;
  try {
    let lastSeen = '';
    let awaySince: number | null = null;
    for (;;) {
      if (detached) return { kind: 'detached', row };
      try {
        row = await context.connection().api.execution(id, looking.signal);
        if (awaySince !== null) note('The server is back.');
        awaySince = null;
        if (isTerminal(row.status)) break;
        const now = standing(row);
        if (now !== lastSeen) note(now);
        lastSeen = now;
      } catch (e) {
        if (detached) return { kind: 'detached', row };
        if (!(e instanceof ApiError) || (e.status > 0 && e.status < 500 && e.status !== 429)) throw e;
        if (awaySince === null) {
          awaySince = context.now();
          note('The server does not answer. Its agents go on without it; waiting for it.');
        }
        context.forget();
        if (context.now() - awaySince > awayMs)
          throw new CliFailure('unreachable', `The server did not come back. ${e.message}`, [
            `Once it runs again: drover logs -f ${id}`,
          ]);
      }
      const left = deadline - context.now();
      if (left <= 0) return { kind: 'out_of_wait', row };
      await context.pause(Math.min(lookMs, left), AbortSignal.any([looking.signal, nudge.signal]));
      if (nudge.signal.aborted) nudge = new AbortController();
    }
    await Promise.race([streaming, context.pause(drainMs, over.signal)]);
    return { kind: 'ended', row, lastText: screen.lastText };
  } finally {
    letGo();
    over.abort();
    await streaming;
  }
};

const standing = (row: ExecutionBody): string => {
  if (row.status === 'queued') return row.wait === null ? 'queued' : `queued: ${waitingFor(row.wait)}`;
  if (row.phase === 'stopping') return 'being stopped';
  if (row.phase === 'silent') return 'silent: its runner has not been heard of; its agent may go on';
  if (row.status === 'waiting') return 'waits for another agent';
  return (row.attempt ?? 1) > 1 ? `running, attempt ${row.attempt}` : 'running';
};

/** Only shows: whatever goes wrong here, the row goes on being watched. */
const showStream = async (
  context: Context,
  id: string,
  signal: AbortSignal,
  screen: { lastText: string | null },
): Promise<void> => {
  while (!signal.aborted) {
    try {
      for await (const item of transcriptFeed(context, id, signal)) {
        if (item.kind !== 'entry') continue;
        for (const line of linesOf(item.entry)) {
          if (line.kind === 'text') screen.lastText = line.text;
          if (!context.json) context.terminal.err(paintLine(context, line));
        }
      }
      return;
    } catch {
      // A refusal that asking again does not mend today may be mended by the next look: the log begins with the run.
      await context.pause(lookMs, signal);
    }
  }
};

export const paintLine = (context: Context, line: Line, where: 'out' | 'err' = 'err'): string => {
  const { paint } = context.terminal;
  switch (line.kind) {
    case 'text':
      return `${line.text}\n`;
    case 'tool':
      return `${paint(where, 'cyan', `> ${line.text}`)}\n`;
    case 'note':
      return `${paint(where, 'dim', line.text)}\n`;
    case 'trouble':
      return `${paint(where, 'yellow', line.text)}\n`;
  }
};

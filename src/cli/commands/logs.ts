/**
 * `drover logs ID [-f]`: the transcript so far, or until the end. With --json each entry is one line, as stored. The exit
 * code tells whether the log could be read, not how the run ended: that is for `run` and `why`.
 */
import { isTerminal } from '../../contract/status.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { endingLines } from '../show/ending.ts';
import { linesOf } from '../show/transcript.ts';
import { transcriptFeed } from '../transcript-feed.ts';
import { paintLine } from '../watch.ts';

export const logs = async (context: Context, options: { follow?: boolean }, [id]: string[]): Promise<ExitName> => {
  const { terminal } = context;
  const { api } = context.connection();
  const row = await api.execution(id!);
  const show = (entry: Record<string, unknown>) => {
    if (context.json) printJson(context, entry);
    else for (const line of linesOf(entry)) terminal.out(paintLine(context, line, 'out'));
  };
  // What has ended is read by its stream, which gives it whole; what runs gives what it has so far, and no waiting.
  if (options.follow === true || isTerminal(row.status)) {
    const stop = new AbortController();
    const letGo = terminal.onInterrupt(() => stop.abort());
    try {
      for await (const item of transcriptFeed(context, row.id, stop.signal)) {
        if (item.kind === 'entry') show(item.entry);
        if (item.kind === 'down') terminal.err('The server does not answer; waiting for it.\n');
      }
    } finally {
      letGo();
    }
    if (stop.signal.aborted) return 'interrupted';
  } else {
    const body = await api.log(row.id);
    for (const entry of body.log) show(entry);
    if (!body.has_log) terminal.err('It has written nothing yet.\n');
  }
  if (!context.json) {
    const now = await context.connection().api.execution(row.id);
    if (isTerminal(now.status)) terminal.err(endingLines(now, terminal));
  }
  return 'ok';
};

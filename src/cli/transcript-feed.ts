/**
 * The live transcript of one execution across server restarts: each entry once, from the first, till the stream ends. After
 * a drop the address is looked up anew: a server started again with DROVER_PORT=0 has another one. The stream replays from
 * its start on each connection, so what was given out before is passed over by count.
 */
import type { Context } from './context.ts';

/** Between two tries. */
const againMs = 500;

type Fed = { kind: 'entry'; entry: Record<string, unknown> } | { kind: 'down' };

/** Throws only what asking again cannot mend (no such execution, no right to see it). Ends at its signal. */
export async function* transcriptFeed(context: Context, id: string, signal: AbortSignal): AsyncGenerator<Fed> {
  let given = 0;
  while (!signal.aborted) {
    let seen = 0;
    for await (const item of context.connection().api.transcript(id, { signal })) {
      if (item.kind === 'ended') return;
      if (item.kind === 'down') break;
      if (item.kind !== 'entry') continue;
      seen++;
      if (seen <= given) continue;
      given = seen;
      yield item;
    }
    if (signal.aborted) return;
    yield { kind: 'down' };
    context.forget();
    await context.pause(againMs, signal);
  }
}

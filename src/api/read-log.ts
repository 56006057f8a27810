/**
 * Reading and following the log of an execution, attempt by attempt, page by page. Bounded everywhere: a log may have 256 MB,
 * so nothing here holds more than a page beyond what it was asked for.
 */
import type { Deps } from '../flow/deps.ts';
import type { Tails } from '../record/tails.ts';
import { type Entry, presentEntry, type ToolCall, toolCallsOf } from './present/transcript.ts';

const page = 500;

interface LogBound {
  entries: number;
  bytes: number;
}

/** The log from its start; `truncated` when there is more than the bound. */
export const readLog = async (
  deps: Pick<Deps, 'store'>,
  executionId: string,
  bound: LogBound,
): Promise<{ log: Entry[]; has_log: boolean; truncated: boolean }> => {
  const log: Entry[] = [];
  let bytes = 0;
  for (const attempt of await deps.store.read('attempts', { execution_id: executionId }))
    for await (const entries of logPages(deps, executionId, attempt.id, 0))
      for (const { entry } of entries) {
        bytes += entry.length;
        if (log.length >= bound.entries || bytes > bound.bytes) return { log, has_log: true, truncated: true };
        log.push(presentEntry(entry));
      }
  return { log, has_log: log.length > 0, truncated: false };
};

/** What an attempt said after `after`, page by page. */
export async function* logPages(deps: Pick<Deps, 'store'>, executionId: string, attemptId: string, after: number) {
  for (let seq = after; ; ) {
    const { entries, more } = await deps.store.read('log', {
      execution_id: executionId,
      attempt_id: attemptId,
      after_seq: seq,
      limit: page,
    });
    if (entries.length === 0) return;
    yield entries;
    seq = entries.at(-1)!.seq;
    if (!more) return;
  }
}

/** The newest entries of the newest attempt: what is happening now. */
const readTail = async (deps: Pick<Deps, 'store'>, executionId: string, count: number): Promise<Entry[]> => {
  const newest = (await deps.store.read('attempts', { execution_id: executionId })).at(-1);
  if (newest === undefined) return [];
  const last = await deps.store.read('stored_seq', { attempt_id: newest.id });
  const { entries } = await deps.store.read('log', {
    execution_id: executionId,
    attempt_id: newest.id,
    after_seq: Math.max(0, last - count),
    limit: count,
  });
  return entries.map((e) => presentEntry(e.entry));
};

/** Enough to hold the call that is open now and a few hundred before it. */
const toolWindow = 1_000;

export const readTools = async (deps: Pick<Deps, 'store'>, executionId: string): Promise<ToolCall[]> =>
  toolCallsOf(await readTail(deps, executionId, toolWindow));

/** Proxies cut a line that is silent for a minute; a reader takes one for dead after 45 s. */
const beatMs = 15_000;

/**
 * Everything of the log, then what comes, until the execution has ended or the signal fires. Each item is a page, in order
 * and without a gap; an empty page is a heartbeat. `ended` says that the row was terminal when the follower began.
 */
export async function* followLog(
  deps: Pick<Deps, 'store' | 'endings' | 'kernel'>,
  tails: Tails,
  executionId: string,
  ended: boolean,
  signal: AbortSignal,
): AsyncGenerator<Entry[]> {
  let over = ended;
  /** The store failed under the wait: the line is cut, and the client comes again. */
  let broken: unknown = null;
  let nudged = false;
  let wake = () => {};
  const nudge = () => {
    nudged = true;
    wake();
  };
  const leave = tails.follow(executionId, nudge);
  signal.addEventListener('abort', nudge, { once: true });
  if (!over)
    deps.endings.wait(executionId, null, signal).then(
      (terminal) => {
        over ||= terminal;
        nudge();
      },
      (error) => {
        broken = error;
        nudge();
      },
    );
  const position = new Map<string, number>();
  try {
    while (!signal.aborted) {
      if (broken !== null) throw broken;
      // Read what is over before reading the log: the last page then cannot miss an entry that came with the ending.
      const last = over;
      nudged = false;
      for (const attempt of await deps.store.read('attempts', { execution_id: executionId }))
        for await (const entries of logPages(deps, executionId, attempt.id, position.get(attempt.id) ?? 0)) {
          position.set(attempt.id, entries.at(-1)!.seq);
          yield entries.map((e) => presentEntry(e.entry));
          if (signal.aborted) return;
        }
      if (last) return;
      if (nudged) continue;
      const timedOut = await new Promise<boolean>((resolve) => {
        const cancel = deps.kernel.clock.after(beatMs, () => resolve(true));
        wake = () => {
          cancel();
          resolve(false);
        };
      });
      wake = () => {};
      if (timedOut) yield [];
    }
  } finally {
    leave();
    signal.removeEventListener('abort', nudge);
  }
}

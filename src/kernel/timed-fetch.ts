/**
 * One request to a stranger that ends in time and throws nothing: its status and headers, or why there are none. A redirect is an
 * answer like any other and is not followed; what the answer says is not read, for it could be endless.
 */
import type { Clock } from './clock.ts';

type Fetched =
  | { answer: Response; late: false; thrown: null }
  /** `thrown` may quote the address. */
  | { answer: null; late: boolean; thrown: unknown };

/** `send`: the fetch of this process; tests give one of their own. */
export const timedFetch = async (
  clock: Pick<Clock, 'after'>,
  timeoutMs: number,
  url: string,
  init: Omit<RequestInit, 'redirect' | 'signal'>,
  send: typeof fetch = fetch,
): Promise<Fetched> => {
  const late = new AbortController();
  const cancel = clock.after(timeoutMs, () => late.abort());
  try {
    const answer = await send(url, { ...init, redirect: 'manual', signal: late.signal });
    await answer.body?.cancel().catch(() => {});
    return { answer, late: false, thrown: null };
  } catch (thrown) {
    return { answer: null, late: late.signal.aborted, thrown };
  } finally {
    cancel();
  }
};

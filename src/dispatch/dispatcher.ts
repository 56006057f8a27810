/**
 * Hands freed and queued work to the runners that wait for it. Runners pull (R1): each holds a long poll here; every write
 * tells `stir` what it may have moved, and one pump at a time asks the store for claims, poll by poll, until none is left.
 * The order and the limits are the store's (`store/claim/`), inside the claim's transaction; nothing here chooses or counts.
 */
import type { ClaimAnswer, ClaimRequest } from '../contract/runner-protocol.ts';
import { claimFor, giveBack, takeBack } from '../flow/begin.ts';
import type { Deps } from '../flow/deps.ts';
import type { Stirred } from '../store/store.ts';

export interface Dispatcher {
  /** Answers with claims or stops as soon as there are any, else empty after `request.wait_ms`. */
  claim(runnerId: string, request: ClaimRequest, signal: AbortSignal): Promise<ClaimAnswer>;
  stir(stirred: Stirred): void;
  /** Ends every poll with an empty answer. */
  close(): void;
}

interface Poll {
  runnerId: string;
  request: ClaimRequest;
  answer(a: ClaimAnswer): void;
  /** The client has gone: it must get no claim. */
  gone(): boolean;
  /** A claim is being made for it: its wait must not end meanwhile, or what was claimed would be nobody's until its lease ends. */
  serving: boolean;
  /** Its wait ended while it was served. */
  overdue: boolean;
}

export const createDispatcher = (deps: Deps): Dispatcher => {
  const { clock, log } = deps.kernel;
  const polls = new Set<Poll>();
  let claimable = false;
  let stops = false;
  let pumping = false;
  let closed = false;
  let cancelWake = () => {};

  const answerStops = async (poll: Poll): Promise<boolean> => {
    const all = await deps.store.read('attempts_to_stop', { runner_id: poll.runnerId });
    const fresh = all.filter((s) => !poll.request.stopping.includes(s.attempt_id));
    if (fresh.length === 0) return false;
    poll.answer({
      claims: [],
      stops: fresh.map((s) => ({ attempt: s.attempt_id, reason: s.reason })),
    });
    return true;
  };

  const endWait = (poll: Poll) => {
    if (poll.serving) poll.overdue = true;
    else poll.answer({ claims: [], stops: [] });
  };

  const serve = async (poll: Poll) => {
    poll.serving = true;
    try {
      return await claimFor(deps, poll.runnerId, poll.request);
    } catch (error) {
      if (poll.overdue) poll.answer({ claims: [], stops: [] });
      throw error;
    } finally {
      poll.serving = false;
    }
  };

  const wakeAt = (steady: number | null) => {
    cancelWake();
    if (steady !== null) cancelWake = clock.after(Math.max(1, steady - clock.steady()), () => wake(true, false));
  };

  const pump = async () => {
    while ((claimable || stops) && !closed) {
      const [claims, ends] = [claimable, stops];
      claimable = stops = false;
      let nextWake: number | null = null;
      for (const poll of [...polls]) {
        if (poll.gone()) continue;
        if (ends && (await answerStops(poll))) continue;
        if (!claims || poll.request.max === 0 || poll.gone()) continue;
        const got = await serve(poll);
        if (got.nextWake !== null) nextWake = nextWake === null ? got.nextWake : Math.min(nextWake, got.nextWake);
        if (poll.gone()) await takeBack(deps, poll.runnerId, poll.request, got.claims);
        else if (got.claims.length > 0 || poll.overdue) poll.answer({ claims: got.claims, stops: [] });
      }
      if (claims) wakeAt(nextWake);
    }
  };

  const wake = (forClaims: boolean, forStops: boolean) => {
    claimable ||= forClaims;
    stops ||= forStops;
    if (pumping || closed || !(claimable || stops)) return;
    pumping = true;
    pump()
      .catch((error) => log.error('handing out work failed; it is tried again with the next change', { error }))
      .finally(() => {
        pumping = false;
        // Something may have stirred between the last look and here.
        if ((claimable || stops) && polls.size > 0) wake(false, false);
      });
  };

  return {
    async claim(runnerId, request, signal) {
      const { host, holds } = request;
      if (holds !== null) await giveBack(deps, runnerId, { host, holds });
      return new Promise((resolve) => {
        const finish = (a: ClaimAnswer) => {
          if (!polls.delete(poll)) return;
          cancelTimer();
          signal.removeEventListener('abort', leave);
          resolve(a);
        };
        const empty = () => finish({ claims: [], stops: [] });
        const leave = () => empty();
        const poll: Poll = {
          runnerId,
          request,
          answer: finish,
          gone: () => signal.aborted || !polls.has(poll),
          serving: false,
          overdue: false,
        };
        const cancelTimer = clock.after(request.wait_ms, () => endWait(poll));
        polls.add(poll);
        signal.addEventListener('abort', leave, { once: true });
        if (closed || signal.aborted) empty();
        else wake(true, true);
      });
    },
    stir(stirred) {
      wake(stirred.claimable, stirred.stops.length > 0);
    },
    close() {
      closed = true;
      cancelWake();
      for (const poll of [...polls]) endWait(poll);
    },
  };
};

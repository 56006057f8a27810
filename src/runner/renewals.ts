/**
 * Keeps the leases: every `everyMs` (10 s) one request for all attempts, with proof of life, and at once after a spawn so that the server
 * knows when it was. Acts on the answers. A server that is away changes nothing: agents run on, and are told of later.
 */
import type { RenewResult } from '../contract/runner-protocol.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { readRoom } from './room.ts';
import type { Roster } from './roster.ts';
import type { ServerClient } from './server-client.ts';

/** Spawns of one moment are told of together. */
const soonMs = 50;
/** As long as anybody waits for `now`. */
const nowMs = 3_000;
/** While the server is away: four tries within a lease. */
const againMs = 2_000;

interface Renewals {
  soon(): void;
  /** Resolves after a round that began after this call, or when none can be had. */
  now(): Promise<void>;
  stop(): void;
}

export const startRenewals = (p: {
  roster: Roster;
  server: ServerClient;
  kernel: Kernel;
  home: string;
  slots: number | null;
  everyMs: number;
  leaving: AbortSignal;
  /** Called each round, also while the server is away. */
  onRound(): void;
}): Renewals => {
  const { clock, log } = p.kernel;
  let cancel = () => {};
  let busy = false;
  let wanted = false;
  let stopped = false;
  let away = false;
  let asked: (() => void)[] = [];

  const act = (result: RenewResult) => {
    const control = p.roster.control(result.attempt);
    if (control === null) return;
    switch (result.state) {
      case 'ok':
        return control.setWaiting(false, result.called_ms);
      case 'waiting':
        return control.setWaiting(true, result.called_ms);
      case 'stop':
        return control.stop(result.reason);
      case 'lost':
        log.warn('an attempt is not ours any more; its process is ended', { attempt: result.attempt });
        return control.lose();
      default:
        return result satisfies never;
    }
  };

  const renew = async (): Promise<number> => {
    const attempts = await p.roster.items();
    if (attempts.length === 0) return p.everyMs;
    try {
      const room = await readRoom(p.home, p.slots);
      // The contract's bound for one request; a runner has fewer places than that.
      const answer = await p.server.renew({ attempts: attempts.slice(0, 1000), room }, p.leaving);
      if (away) log.info('the server renews leases again', { attempts: attempts.length });
      away = false;
      for (const result of answer.results) act(result);
      return p.everyMs;
    } catch (error) {
      if (!away && !p.leaving.aborted) log.warn('leases could not be renewed; agents run on', { error });
      away = true;
      return againMs;
    }
  };

  const round = async () => {
    if (busy) {
      wanted = true;
      return;
    }
    busy = true;
    const waiting = asked;
    asked = [];
    p.onRound();
    const nextMs = await renew();
    busy = false;
    for (const told of waiting) told();
    if (!stopped) cancel = clock.after(wanted ? soonMs : nextMs, () => void round());
    wanted = false;
  };
  cancel = clock.after(p.everyMs, () => void round());

  return {
    soon() {
      if (stopped) return;
      if (busy) {
        wanted = true;
        return;
      }
      cancel();
      cancel = clock.after(soonMs, () => void round());
    },
    now() {
      if (stopped) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      asked.push(resolve);
      // A server that hangs must not hold up who asks.
      clock.after(nowMs, resolve);
      this.soon();
      return promise;
    },
    stop() {
      stopped = true;
      cancel();
      for (const told of asked) told();
    },
  };
};

/**
 * The claim loop: one long poll after another, with the room there is. Its answers bring work, and stops, since a cancel must
 * travel faster than a renewal. Each says what is known here, so that a claim that was lost on its way is free again. A poll
 * that may bring work is never cut off: what it was about to hand over would wait for the next one. One that asks for nothing (no place) is, as soon as a place is free.
 */
import type { ClaimedWork, ClaimRequest } from '../contract/runner-protocol.ts';
import { hashedBackoff } from '../kernel/backoff.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { readRoom } from './room.ts';
import type { Roster } from './roster.ts';
import type { ServerClient } from './server-client.ts';

/** Claims in one answer at most: a burst is spread over the runners that wait. */
const atOnce = 8;
const firstBackoffMs = 250;
const mostBackoffMs = 10_000;

interface Claims {
  /** Places may be free now. */
  roomChanged(): void;
  /** Resolves when no poll is out any more. */
  stop(): Promise<void>;
}

type HostFacts = Pick<ClaimRequest, 'host' | 'boot_id' | 'version' | 'isolation' | 'cgroup' | 'labels'>;

export const startClaims = (p: {
  roster: Roster;
  server: ServerClient;
  kernel: Kernel;
  home: string;
  /** Null: the server gives what its fleet limit has room for. */
  slots: number | null;
  /** Read for each poll: the place of the cgroups may change with the holder. */
  host: () => HostFacts;
  begin(claim: ClaimedWork): void;
}): Claims => {
  const { clock, log } = p.kernel;
  const stopping = new AbortController();
  let poll: AbortController | null = null;
  let failures = 0;

  const once = async (): Promise<void> => {
    const max = p.slots === null ? atOnce : Math.max(0, Math.min(atOnce, p.slots - p.roster.live()));
    const own = new AbortController();
    poll = max === 0 ? own : null;
    const request: ClaimRequest = {
      ...p.host(),
      room: await readRoom(p.home, p.slots),
      max,
      // What this host has room for is said anew with each: a disk that was freed is known this soon.
      wait_ms: 10_000,
      stopping: p.roster.stopping().slice(0, 1000),
      holds: p.roster.attempts(),
    };
    const answer = await p.server.claim(request, AbortSignal.any([stopping.signal, own.signal])).catch((error) => {
      // Cut off to ask again with more room.
      if (own.signal.aborted) return null;
      throw error;
    });
    if (failures > 0) log.info('the server hands out work again');
    failures = 0;
    for (const stop of answer?.stops ?? []) p.roster.control(stop.attempt)?.stop(stop.reason);
    for (const claim of answer?.claims ?? []) {
      // A doubled answer: the first one is being worked on.
      if (!p.roster.has(claim.attempt)) p.begin(claim);
    }
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await once();
      } catch (error) {
        if (stopping.signal.aborted) return;
        failures++;
        if (failures === 1 || failures % 60 === 0)
          log.warn('no work can be claimed; it is tried again, and agents run on', { failures, error });
        await clock
          .sleep(hashedBackoff('claims', failures, firstBackoffMs, mostBackoffMs), stopping.signal)
          .catch(() => {});
      }
    }
  };
  const done = loop();

  return {
    roomChanged: () => poll?.abort(),
    async stop() {
      stopping.abort();
      await done;
    },
  };
};

/**
 * The line between an attempt and those who may change its course: the claim poll and the renewals say stop, wait, lost; the
 * attempt says what there is to prove. Words only: whoever holds the process acts on them. The first stop wins.
 */
import type { ProofOfLife } from '../contract/runner-protocol.ts';
import type { Stop, StopReason } from '../contract/stop-reasons.ts';
import type { Usage } from './launchers/launcher.ts';

/** What whoever holds the process does when told. */
interface Holding {
  stop(asked: Stop): void;
  /** Not ours any more: end it at once, without the ladder. */
  lost(): void;
  setWaiting(waiting: boolean, calledMs?: number): void;
  usage(): Promise<Usage | null>;
}

export interface Control {
  readonly stopAsked: Stop | null;
  readonly lost: boolean;
  proof: ProofOfLife | null;
  startedAt: number | null;
  /** The model has answered: told with the next renewal, because the server may be waiting for a sign of its provider. */
  modelSpoke: boolean;
  stop(reason: StopReason, detail?: string | null): void;
  lose(): void;
  setWaiting(waiting: boolean, calledMs?: number): void;
  usage(): Promise<Usage | null>;
  /** Hands over to who holds the process now; what was said before is said again at once. */
  held(by: Holding): void;
  released(): void;
}

export const createControl = (now: () => number, onHeld: () => void = () => {}): Control => {
  let holding: Holding | null = null;
  let stopAsked: Stop | null = null;
  let lost = false;
  let waiting: [boolean, number?] | null = null;
  return {
    get stopAsked() {
      return stopAsked;
    },
    get lost() {
      return lost;
    },
    proof: null,
    startedAt: null,
    modelSpoke: false,
    stop(reason, detail = null) {
      if (stopAsked !== null) return;
      stopAsked = { reason, detail, at: now() };
      holding?.stop(stopAsked);
    },
    lose() {
      if (lost) return;
      lost = true;
      holding?.lost();
    },
    setWaiting(next, calledMs) {
      waiting = [next, calledMs];
      holding?.setWaiting(next, calledMs);
    },
    usage: async () => (await holding?.usage()) ?? null,
    held(by) {
      holding = by;
      if (waiting !== null) by.setWaiting(...waiting);
      if (stopAsked !== null) by.stop(stopAsked);
      if (lost) by.lost();
      onHeld();
    },
    released() {
      holding = null;
    },
  };
};

/**
 * The run clock of one attempt (R7): starts at the spawn, stands still while the execution waits for a call to another
 * agent, and fires the deadline once. The runner hears of calls with its renewals; what the server says they took corrects it. It counts by the steady clock, so that a jump of the wall clock kills nobody.
 */
import type { Clock } from '../kernel/clock.ts';

interface RunClock {
  /** Ms spent running and waiting so far. */
  read(): { run_ms: number; waiting_ms: number; waiting: boolean };
  /** `calledMs`: how long calls have taken in all, as the server counts it; left out: as heard here. */
  setWaiting(waiting: boolean, calledMs?: number): void;
  stop(): void;
}

export const startRunClock = (
  clock: Clock,
  timeoutMs: number,
  onDeadline: () => void,
  /** What had passed before, when the runner picks up an attempt again. */
  before: { run_ms: number; waiting_ms: number; waiting: boolean } = { run_ms: 0, waiting_ms: 0, waiting: false },
  /** Heard before the end: a call that began since the last renewal is then known. */
  confirm: () => Promise<void> = async () => {},
): RunClock => {
  const passed = { run: before.run_ms, waiting: before.waiting_ms };
  let waiting = before.waiting;
  let since = clock.steady();
  let cancel = () => {};

  const settle = () => {
    const now = clock.steady();
    passed[waiting ? 'waiting' : 'run'] += now - since;
    since = now;
  };
  let stopped = false;
  const end = () => {
    settle();
    if (waiting || stopped) return;
    if (passed.run >= timeoutMs) onDeadline();
    else arm();
  };
  const arm = () => {
    cancel();
    if (!waiting && !stopped) cancel = clock.after(timeoutMs - passed.run, () => void confirm().then(end, end));
  };
  arm();

  return {
    read() {
      settle();
      return { run_ms: passed.run, waiting_ms: passed.waiting, waiting };
    },
    setWaiting(next, calledMs) {
      settle();
      const all = passed.run + passed.waiting;
      const known = calledMs === undefined ? passed.waiting : Math.min(all, Math.max(0, calledMs));
      if (next === waiting && known === passed.waiting) return;
      waiting = next;
      passed.waiting = known;
      passed.run = all - known;
      arm();
    },
    stop() {
      settle();
      stopped = true;
      cancel();
    },
  };
};

/**
 * The run clock of one attempt (R7): starts at the spawn, stands still while the execution waits for a call to another
 * agent, and fires the deadline once. It counts by the steady clock, so that a jump of the wall clock kills nobody.
 */
import type { Clock } from '../kernel/clock.ts';

interface RunClock {
  /** Ms spent running and waiting so far. */
  read(): { run_ms: number; waiting_ms: number; waiting: boolean };
  setWaiting(waiting: boolean): void;
  stop(): void;
}

export const startRunClock = (
  clock: Clock,
  timeoutMs: number,
  onDeadline: () => void,
  /** What had passed before, when the runner picks up an attempt again. */
  before: { run_ms: number; waiting_ms: number; waiting: boolean } = { run_ms: 0, waiting_ms: 0, waiting: false },
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
  const arm = () => {
    cancel();
    if (!waiting) cancel = clock.after(timeoutMs - passed.run, onDeadline);
  };
  arm();

  return {
    read() {
      settle();
      return { run_ms: passed.run, waiting_ms: passed.waiting, waiting };
    },
    setWaiting(next) {
      if (next === waiting) return;
      settle();
      waiting = next;
      arm();
    },
    stop() {
      settle();
      cancel();
    },
  };
};

/**
 * Silence: a run that gives no sign of progress for longer than what it waits for may take is stopped as `stall`, with the
 * tool's name (contract/limits.ts, `stallLimits`). Every line is a sign, except a heartbeat, by which a CLI says only that time
 * passes. The clock stands still while the execution waits for another agent. It never acts on a moment in which this
 * process itself stood still: then it has seen nothing, and counts anew.
 */
import { type StallKind, stallLimits } from '../contract/limits.ts';
import type { Awaits } from '../evidence/awaits.ts';
import type { Clock } from '../kernel/clock.ts';

export interface Silence {
  /** After each line: what the run waits for now; null = it has said its last, nothing is measured any more. */
  seen(awaits: Awaits | null, heartbeat: boolean): void;
  setWaiting(waiting: boolean): void;
  stop(): void;
}

export type StallMs = Partial<Record<StallKind, number>>;

/** A timer this late was held up together with everything else here: what the agent wrote meanwhile is not read yet. */
const lateMs = 10_000;
/** The tail looks at the files every second: what stands there is read before anything is stopped. */
const lastLookMs = 3_000;

const limitFor = (kind: StallKind, ownS: number | null, instead: StallMs): number | null => {
  if (ownS !== null) return ownS === 0 ? null : ownS * 1000;
  const seconds = stallLimits[kind].seconds;
  return instead[kind] ?? (seconds === null ? null : seconds * 1000);
};

interface SilenceOptions {
  clock: Clock;
  awaits: Awaits;
  /** `stall_seconds` of the agent. */
  ownS: number | null;
  waiting: boolean;
  onStall(detail: string): void;
  /** Other limits by kind, for tests. */
  instead?: StallMs;
}

export const watchSilence = (o: SilenceOptions): Silence => {
  const { clock } = o;
  let awaits: Awaits | null = o.awaits;
  let waiting = o.waiting;
  let since = clock.steady();
  let due: number | null = null;
  let cancel = () => {};

  const disarm = () => {
    cancel();
    cancel = () => {};
    due = null;
  };
  /** One timer that is moved only when it would come too late: a stream of a million lines makes no million timers. */
  const arm = () => {
    const ms = awaits === null || waiting ? null : limitFor(awaits.kind, o.ownS, o.instead ?? {});
    if (ms === null) return disarm();
    const at = since + ms;
    if (due !== null && due <= at) return;
    disarm();
    due = at;
    cancel = clock.after(at - clock.steady(), () => look(at));
  };
  const look = (at: number) => {
    due = null;
    const now = clock.steady();
    if (now - at > lateMs) since = now;
    const ms = awaits === null || waiting ? null : limitFor(awaits.kind, o.ownS, o.instead ?? {});
    if (ms === null || since + ms > now) return arm();
    const before = since;
    // Not `due`: a line that comes now has to arm a timer of its own.
    cancel = clock.after(lastLookMs, () => {
      if (since !== before || awaits === null || waiting) return;
      o.onStall(detailOf(awaits, ms));
    });
  };
  arm();

  return {
    seen(next, heartbeat) {
      if (heartbeat) return;
      awaits = next;
      since = clock.steady();
      arm();
    },
    setWaiting(next) {
      if (next === waiting) return;
      waiting = next;
      // The answer that ends a wait is a sign as well.
      since = clock.steady();
      arm();
    },
    stop: disarm,
  };
};

const told: Record<StallKind, string> = {
  start: 'its first event',
  model: 'the model',
  shell: 'a command in the shell',
  web: 'the web',
  tool: 'a tool',
  mcp: 'a tool of an MCP server',
  subagent: 'a sub-agent',
  output: 'its output',
};

const detailOf = ({ kind, tool }: Awaits, ms: number): string =>
  `silent for ${ms / 1000} s while it waited for ${tool === null ? told[kind] : `the tool ${tool}`}`;

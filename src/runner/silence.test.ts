import { describe, expect, it } from 'vitest';
import { type ManualClock, manualClock } from '../../test/support/manual-clock.ts';
import { verifies } from '../../test/support/verifies.ts';
import { type StallKind, stallLimits } from '../contract/limits.ts';
import type { Awaits } from '../evidence/awaits.ts';
import { type Silence, watchSilence } from './silence.ts';

const on = (kind: StallKind, tool: string | null = null): Awaits => ({ kind, tool });
const model = on('model');
const bash = on('shell', 'Bash');

const watch = (
  over: { awaits?: Awaits; ownS?: number | null; waiting?: boolean } = {},
): { clock: ManualClock; silence: Silence; stalls: string[] } => {
  const clock = manualClock();
  const stalls: string[] = [];
  const silence = watchSilence({
    clock,
    awaits: over.awaits ?? on('start'),
    ownS: over.ownS ?? null,
    waiting: over.waiting ?? false,
    onStall: (detail) => stalls.push(detail),
  });
  return { clock, silence, stalls };
};
/** In steps of a minute, as a process that is alive looks at its clock. */
const pass = async (clock: ManualClock, seconds: number) => {
  for (let left = seconds; left > 0; left -= 60) await clock.advance(Math.min(60, left) * 1000);
};

describe('silence', () => {
  it.each(Object.entries(stallLimits).filter(([, l]) => l.seconds !== null))(
    verifies('R28')('of a run that waits for %s ends it after its own limit, and not before'),
    async (kind, limit) => {
      const { clock, silence, stalls } = watch();
      silence.seen(on(kind as StallKind, 'some_tool'), false);
      await pass(clock, limit.seconds! - 1);
      expect(stalls).toEqual([]);
      await pass(clock, 5);
      expect(stalls).toEqual([`silent for ${limit.seconds} s while it waited for the tool some_tool`]);
      await pass(clock, 10 * limit.seconds!);
      expect(stalls).toHaveLength(1);
    },
  );

  it('of ten minutes ends nothing, whatever the run waits for: a host may be starved that long', async () => {
    for (const kind of Object.keys(stallLimits) as StallKind[]) {
      const { clock, silence, stalls } = watch();
      silence.seen(on(kind), false);
      await pass(clock, 600);
      expect(stalls).toEqual([]);
    }
  });

  it('is broken by every line, and not by a heartbeat', async () => {
    const { clock, silence, stalls } = watch();
    for (let i = 0; i < 10; i++) {
      silence.seen(bash, false);
      await pass(clock, 1700);
    }
    expect(stalls).toEqual([]);
    silence.seen(bash, false);
    for (let i = 0; i < 1810; i++) {
      await pass(clock, 1);
      silence.seen(bash, true);
    }
    expect(stalls).toEqual(['silent for 1800 s while it waited for the tool Bash']);
  });

  it('is measured by what is waited for now: a shorter limit holds at once, a longer one too', async () => {
    const shorter = watch();
    shorter.silence.seen(on('mcp', 'mcp__a__b'), false);
    await pass(shorter.clock, 60);
    shorter.silence.seen(on('web', 'WebFetch'), false);
    await pass(shorter.clock, 905);
    expect(shorter.stalls).toHaveLength(1);
    const longer = watch();
    longer.silence.seen(on('web', 'WebFetch'), false);
    await pass(longer.clock, 60);
    longer.silence.seen(on('mcp', 'mcp__a__b'), false);
    await pass(longer.clock, 2690);
    expect(longer.stalls).toEqual([]);
    await pass(longer.clock, 15);
    expect(longer.stalls).toEqual(['silent for 2700 s while it waited for the tool mcp__a__b']);
  });

  it(
    verifies('R7')('does not count while the execution waits for another agent, before or after a restart'),
    async () => {
      const { clock, silence, stalls } = watch();
      silence.seen(on('mcp', 'mcp__drover__chat_with_agent'), false);
      await pass(clock, 2000);
      silence.setWaiting(true);
      await pass(clock, 40_000);
      expect(stalls).toEqual([]);
      silence.setWaiting(false);
      await pass(clock, 2690);
      expect(stalls).toEqual([]);
      await pass(clock, 15);
      expect(stalls).toHaveLength(1);
      const taken = watch({ waiting: true });
      taken.silence.seen(model, false);
      await pass(taken.clock, 40_000);
      expect(taken.stalls).toEqual([]);
    },
  );

  it(verifies('D21')('is not measured any more once the CLI has said its last: background work goes on'), async () => {
    const { clock, silence, stalls } = watch();
    silence.seen(bash, false);
    await pass(clock, 60);
    silence.seen(null, false);
    await pass(clock, 80_000);
    expect(stalls).toEqual([]);
  });

  it('of plain output is no stall, unless the agent has a limit of its own', async () => {
    const quiet = watch({ awaits: on('output') });
    await pass(quiet.clock, 86_000);
    expect(quiet.stalls).toEqual([]);
    const own = watch({ awaits: on('output'), ownS: 60 });
    await pass(own.clock, 65);
    expect(own.stalls).toEqual(['silent for 60 s while it waited for its output']);
    const none = watch({ awaits: model, ownS: 0 });
    await pass(none.clock, 86_000);
    expect(none.stalls).toEqual([]);
  });

  it('that only this process did not hear is none: after a stand-still it counts anew', () => {
    // The timer comes 20 minutes late, as after SIGSTOP: the files have not been read meanwhile.
    const late = stoodStill();
    late.silence.seen(model, false);
    late.passUnnoticed(3000);
    late.fire();
    expect(late.stalls).toEqual([]);
    late.passUnnoticed(1800);
    late.fire();
    late.passUnnoticed(3);
    late.fire();
    expect(late.stalls).toHaveLength(1);
  });

  it('is looked at once more before it ends anything: what was written at the last moment is read', async () => {
    const { clock, silence, stalls } = watch({ awaits: model });
    await pass(clock, 1800);
    silence.seen(model, false);
    await pass(clock, 60);
    expect(stalls).toEqual([]);
    await pass(clock, 1750);
    expect(stalls).toHaveLength(1);
  });
});

/** A clock whose timers fire when the test says so, however late. */
const stoodStill = () => {
  let steady = 1_000_000;
  let timer: (() => void) | null = null;
  const stalls: string[] = [];
  const silence = watchSilence({
    clock: {
      ...manualClock(),
      steady: () => steady,
      after: (_ms, run) => {
        timer = run;
        return () => {
          if (timer === run) timer = null;
        };
      },
    },
    awaits: model,
    ownS: null,
    waiting: false,
    onStall: (detail) => stalls.push(detail),
  });
  return {
    silence,
    stalls,
    passUnnoticed: (seconds: number) => {
      steady += seconds * 1000;
    },
    fire: () => {
      const run = timer;
      timer = null;
      run?.();
    },
  };
};

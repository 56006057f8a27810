import { mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { fixture, type HeldBench, heldBench, lives, until } from '../../../test/support/held.ts';
import { type ManualClock, manualClock } from '../../../test/support/manual-clock.ts';
import { verifies } from '../../../test/support/verifies.ts';
import type { Clock } from '../../kernel/clock.ts';
import { systemClock } from '../../kernel/clock.ts';
import { files } from './attempt-files.ts';
import { climbDown } from './stop-ladder.ts';
import { recordStop } from './stop-record.ts';

let bench: HeldBench;
afterEach(() => bench.end());

/** Timers by hand; what waits for the kernel of this machine waits in real time. */
const handClock = (): { clock: Clock; hand: ManualClock } => {
  const hand = manualClock();
  return { hand, clock: { ...hand, sleep: systemClock().sleep } };
};
const telling = async (attempt: string) => {
  const held = await bench.run(attempt, [fixture('held-signals-told')]);
  await until(() => expect(bench.text(attempt, 'stdout')).toContain('ready'));
  return held;
};

describe('a stop', () => {
  it(verifies('R28')('writes its reason, then SIGINT, 5 s, SIGTERM, 5 s, SIGKILL'), async () => {
    const { clock, hand } = handClock();
    bench = await heldBench({ clock });
    const held = await telling('l1');
    const said = () => bench.text('l1', 'stdout').split('\n').filter(Boolean);

    expect(await bench.launcher.stop(held, 'deadline', '10 s')).toMatchObject({ reason: 'deadline', detail: '10 s' });
    expect(JSON.parse(readFileSync(files(held.dir).stop, 'utf8')).reason).toBe('deadline');
    await until(() => expect(said()).toEqual(['ready', 'INT']));
    await hand.advance(4_999);
    expect(said()).toEqual(['ready', 'INT']);
    await hand.advance(1);
    await until(() => expect(said()).toEqual(['ready', 'INT', 'TERM']));
    await hand.advance(4_999);
    expect(lives(held.proof.pid)).toBe(true);
    // This step begins when the holder has answered, which may be after the program was seen to have the signal.
    await until(async () => {
      await hand.advance(1_000);
      expect(lives(held.proof.pid)).toBe(false);
    });
    expect(await held.exited).toMatchObject({ exit_code: null, signal: 'SIGKILL' });
  });

  it(verifies('R28', 'R33')('ends at the first rung for a CLI that obeys, with the code that CLI chose'), async () => {
    bench = await heldBench();
    const held = await bench.run('l2', [fixture('held-obeys-sigint')]);
    await until(() => expect(bench.text('l2', 'stdout')).toContain('ready'));
    await bench.launcher.stop(held, 'cancel');
    expect(await held.exited).toMatchObject({ exit_code: 0, signal: null });
    expect(await bench.launcher.stopped(held.dir)).toMatchObject({ reason: 'cancel', detail: null });
  });

  it(verifies('R28', 'D22')('keeps its first reason, told by whom and how often, also over a restart'), async () => {
    bench = await heldBench();
    const held = await telling('l3');
    const answers = await Promise.all([
      bench.launcher.stop(held, 'cancel', 'by a person'),
      bench.launcher.stop(held, 'deadline'),
      bench.launcher.stop(held, 'stall'),
    ]);
    expect(answers.map((a) => a?.reason)).toEqual(['cancel', 'cancel', 'cancel']);
    const next = await bench.another();
    const found = await next.reattach('l3', held.dir);
    if (!('proof' in found)) throw new Error(JSON.stringify(found));
    expect(await next.stop(found, 'teardown', undefined, true)).toMatchObject({ reason: 'cancel' });
    expect(await held.exited).toMatchObject({ signal: 'SIGKILL' });
    expect(await next.stopped(held.dir)).toMatchObject({ reason: 'cancel', detail: 'by a person' });
  });

  it(verifies('R28', 'D22')('of a process that had exited before is no stop'), async () => {
    bench = await heldBench();
    const held = await bench.run('l4', ['/bin/sh', '-c', 'exit 1']);
    await held.exited;
    expect(await bench.launcher.stop(held, 'deadline')).toBeNull();
    expect(await bench.launcher.stopped(held.dir)).toBeNull();
  });

  it(verifies('R28', 'D22')('is taken back when the process is gone although nobody has said so yet'), async () => {
    bench = await heldBench();
    const held = await bench.run('l5', ['/bin/sh', '-c', 'exit 1']);
    await held.exited;
    const silent = { ...held, dir: join(bench.home, 'attempts', 'unheard') };
    await bench.launcher.spawn(bench.order('unheard', ['no-such-program']));
    rmSync(files(silent.dir).exit);
    expect(await bench.launcher.stop(silent, 'deadline')).toBeNull();
    expect(await bench.launcher.stopped(silent.dir)).toBeNull();
  });

  it(verifies('R28', 'R2')('that a killed runner had begun is carried on by the next'), async () => {
    bench = await heldBench();
    const held = await bench.run('l6', [fixture('held-obeys-sigint')]);
    await until(() => expect(bench.text('l6', 'stdout')).toContain('ready'));
    recordStop(held.dir, { reason: 'cancel', at: 1, detail: null });
    await (await bench.another()).reattach('l6', held.dir);
    expect(await held.exited).toMatchObject({ exit_code: 0 });
  });

  it(verifies('R22')('at once takes the whole tree without asking'), async () => {
    bench = await heldBench();
    const script = `setsid sleep 3600 & echo $! > ${join(bench.home, 'pid')}; trap '' INT TERM; echo ready; wait`;
    const held = await bench.run('l7', ['/bin/sh', '-c', script]);
    await until(() => expect(bench.text('l7', 'stdout')).toContain('ready'));
    const child = Number(readFileSync(join(bench.home, 'pid'), 'utf8'));
    await bench.launcher.stop(held, 'shutdown', 'the lease was lost', true);
    expect(await held.exited).toMatchObject({ signal: 'SIGKILL' });
    await until(() => expect(lives(child)).toBe(false));
  });

  it(verifies('R28', 'D33')('is carried out although its reason cannot be written'), async () => {
    bench = await heldBench();
    const held = await bench.run('l8', [fixture('held-obeys-sigint')]);
    await until(() => expect(bench.text('l8', 'stdout')).toContain('ready'));
    // A directory where the file would be laid aside: the write fails as it does on a full disk.
    mkdirSync(`${files(held.dir).stop}.tmp`);
    expect(await bench.launcher.stop(held, 'cancel')).toMatchObject({ reason: 'cancel' });
    expect(await held.exited).toMatchObject({ exit_code: 0 });
    expect(await bench.launcher.stopped(held.dir)).toMatchObject({ reason: 'cancel' });
    rmdirSync(`${files(held.dir).stop}.tmp`);
    writeFileSync(files(held.dir).stop, '');
  });
});

describe('the ladder', () => {
  it(verifies('R28')('sends nothing more once the leader has exited'), async () => {
    bench = await heldBench();
    const clock = manualClock();
    const sent: string[] = [];
    const { promise: exited, resolve } = Promise.withResolvers<void>();
    const rungs = {
      exited,
      send: async (signal: string) => sent.push(signal) > 0,
      kill: async () => void sent.push('SIGKILL'),
    };
    const down = climbDown(rungs, clock, 5_000);
    await clock.advance(5_000);
    resolve();
    await down;
    await clock.advance(60_000);
    expect(sent).toEqual(['SIGTERM']);
  });
});

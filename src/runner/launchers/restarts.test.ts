import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fixture, type HeldBench, heldBench, lives, until } from '../../../test/support/held.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { writeRecord } from '../record-file.ts';
import { files } from './attempt-files.ts';
import { statOf } from './proc.ts';
import { bootId } from './proof.ts';

let bench: HeldBench;
beforeEach(async () => {
  bench = await heldBench();
});
afterEach(() => bench.end());

const waiting = (code: number) => [fixture('held-waits-for-file'), join(bench.home, 'go'), String(code)];
const letGo = () => writeFileSync(join(bench.home, 'go'), '');

describe('a runner killed with -9', () => {
  const killedRunner = async (argv: string[]): Promise<{ pid: number; dir: string }> => {
    const { dir } = bench.order('k1', argv);
    const client = spawn(process.execPath, [fixture('held-client.ts'), bench.home, dir, ...argv], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(client.stdout, 'data')) as [Buffer];
    client.kill('SIGKILL');
    await once(client, 'exit');
    return { pid: Number(String(line)), dir };
  };

  it(
    verifies('R2', 'D29')('leaves its agent running; the next runner holds it again and learns the exit code'),
    async () => {
      const { pid, dir } = await killedRunner(waiting(7));
      expect(lives(pid)).toBe(true);
      const found = await bench.launcher.reattach('k1', dir);
      if (!('proof' in found)) throw new Error(JSON.stringify(found));
      expect(found.proof).toMatchObject({ pid, boot_id: bootId() });
      letGo();
      expect(await found.exited).toMatchObject({ exit_code: 7, signal: null });
      expect(await bench.launcher.tearDown('k1', dir)).toMatchObject({ stragglers: 0 });
    },
  );

  it(verifies('R2', 'D29')('and an agent that ended meanwhile is known by its exit code all the same'), async () => {
    const { pid, dir } = await killedRunner(waiting(9));
    letGo();
    await until(() => expect(lives(pid)).toBe(false));
    await until(async () =>
      expect(await bench.launcher.reattach('k1', dir)).toMatchObject({ ended: { exit_code: 9, signal: null } }),
    );
    await bench.launcher.tearDown('k1', dir);
  });
});

describe('found again', () => {
  it(verifies('R2')('also when the proof of life was not yet on disk: the holder knows it'), async () => {
    const held = await bench.run('r1', waiting(3));
    const record = JSON.parse(readFileSync(files(held.dir).held, 'utf8'));
    writeRecord(files(held.dir).held, { ...record, proof: null, started_at: null });
    const found = await (await bench.another()).reattach('r1', held.dir);
    expect(found).toMatchObject({ proof: held.proof, started_at: held.started_at });
    expect(JSON.parse(bench.text('r1', 'held.json')).proof).toEqual(held.proof);
  });

  it(verifies('R23', 'D29')('only when pid, start time and boot agree: a reused pid is not believed'), async () => {
    const held = await bench.run('r2', waiting(3));
    const record = JSON.parse(readFileSync(files(held.dir).held, 'utf8'));
    const self = { pid: process.pid, start_time: statOf(process.pid)!.start_time, boot_id: bootId() };
    const claim = async (proof: object) => {
      const { dir } = bench.order('r3', []);
      rmSync(dir, { recursive: true, force: true });
      const made = await bench.launcher.spawn(bench.order('r3', ['no-such-program']));
      expect(made).toHaveProperty('spawn_error');
      rmSync(files(dir).exit);
      writeRecord(files(dir).held, { ...record, attempt: 'r3', leaf: null, proof });
      const found = await bench.launcher.reattach('r3', dir);
      return 'gone' in found ? 'gone' : 'proof' in found ? 'held' : 'ended';
    };
    expect(await claim({ ...self, start_time: self.start_time + 1 })).toBe('gone');
    expect(await claim({ ...self, boot_id: '00000000-0000-0000-0000-000000000000' })).toBe('gone');
    expect(await claim(held.proof)).toBe('held');
  });
});

describe('killed between the order and its answer', () => {
  /** As the dead runner left it: ordered, no proof yet; nothing under the holder. */
  const ordered = async (attempt: string) => {
    const { dir } = bench.order(attempt, []);
    const held = await bench.run(attempt, ['/bin/true']);
    await held.exited;
    rmSync(files(dir).exit);
    const record = JSON.parse(readFileSync(files(dir).held, 'utf8'));
    writeRecord(files(dir).held, { ...record, proof: null, started_at: null });
    return dir;
  };

  it(verifies('R24')('a run is never started for the holder that had the order and does not know it'), async () => {
    const dir = await ordered('n1');
    expect(await (await bench.another()).reattach('n1', dir)).toEqual({ gone: true, never_started: true });
  });

  it(verifies('R24')('when the holder was killed too, nobody knows: it may have run'), async () => {
    const dir = await ordered('n2');
    const before = bench.holderPid();
    process.kill(before, 'SIGKILL');
    await until(() => expect(lives(before)).toBe(false));
    expect(await (await bench.another()).reattach('n2', dir)).toEqual({ gone: true, never_started: false });
  });

  it('no order at all is proof enough', async () => {
    const { dir } = bench.order('n3', []);
    expect(await bench.launcher.reattach('n3', dir)).toEqual({ gone: true, never_started: true });
  });
});

describe('a holder killed with -9', () => {
  it(verifies('R2')('leaves the agents running; their end is seen, their exit code is not invented'), async () => {
    const held = await bench.run('h1', waiting(5));
    const before = bench.holderPid();
    process.kill(before, 'SIGKILL');
    await until(() => expect(lives(before)).toBe(false));
    expect(lives(held.proof.pid)).toBe(true);
    letGo();
    expect(await held.exited).toMatchObject({ exit_code: null, signal: null, spawn_error: null });
    expect(await bench.launcher.stopped(held.dir)).toBeNull();
  });

  it('is replaced at the next order, and what it held can still be stopped, by proof', async () => {
    const orphan = await bench.run('h2', [fixture('held-signals-told')]);
    await until(() => expect(bench.text('h2', 'stdout')).toContain('ready'));
    const before = bench.holderPid();
    process.kill(before, 'SIGKILL');
    await until(() => expect(lives(before)).toBe(false));
    const next = await bench.run('h3', ['/bin/sh', '-c', 'exit 4']);
    expect(await next.exited).toMatchObject({ exit_code: 4 });
    expect(bench.holderPid()).not.toBe(before);
    const found = await (await bench.another()).reattach('h2', orphan.dir);
    if (!('proof' in found)) throw new Error(JSON.stringify(found));
    await bench.launcher.stop(found, 'cancel');
    await until(() => expect(bench.text('h2', 'stdout')).toContain('INT'));
    await bench.launcher.stop(found, 'cancel', undefined, true);
    expect(await found.exited).toMatchObject({ exit_code: null, signal: null });
    expect(lives(orphan.proof.pid)).toBe(false);
  });
});

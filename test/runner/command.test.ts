/** Adapter `command` through a whole runner: real processes, every way to end, and nothing left afterwards. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixture, lives } from '../support/held.ts';
import { type RunnerBench, runnerBench, until } from '../support/runner-bench.ts';
import { verifies } from '../support/verifies.ts';

let bench: RunnerBench;
beforeAll(async () => {
  bench = await runnerBench({ logBytes: 2_000_000 });
});
afterAll(() => bench.end());

const gate = (name: string) => ({
  command: [fixture('runner-gate.sh')],
  env: { GATE: join(bench.home, `${name}.gate`), STARTS: join(bench.home, `${name}.starts`) },
});

describe('an ending of its own', () => {
  it(verifies('R33')('gives the message on stdin, takes stdout as the answer and keeps both streams'), async () => {
    const { claim, facts } = await bench.run({
      message: 'say\u0000 this ← back',
      agent: { command: [fixture('runner-echo.sh'), 'one', '$HOME'] },
    });
    expect(facts).toMatchObject({ exit_code: 0, signal: null, stop: null, spawn_error: null, stragglers: 0 });
    expect(facts.stream.response).toContain('this ← back');
    expect(readFileSync(join(bench.workspace, 'made.txt'), 'utf8')).toBe('made by the agent\n');
    const log = bench.server.log(claim.attempt).map((e) => `${e.stream}: ${e.text}`);
    expect(log).toContain('stderr: args: one $HOME');
    expect(facts.run_ms).toBeGreaterThanOrEqual(0);
    expect(facts.spawned_at).toBeLessThanOrEqual(facts.ended_at!);
  });

  it(verifies('R6', 'R22')('asks for the go before it spawns, and spawns nothing without it'), async () => {
    bench.server.begin = () => ({ go: false, why: 'cancelled' });
    const claim = bench.claim({ agent: gate('refused') });
    bench.server.give(claim);
    const facts = await bench.facts(claim);
    bench.server.begin = () => ({ go: true, why: null });
    expect(facts).toMatchObject({ spawned_at: null, pid: null, exit_code: null, stop: { reason: 'cancel' } });
    expect(existsSync(join(bench.home, 'refused.starts'))).toBe(false);
  });

  it(verifies('R22')('owes nothing for an attempt that was reaped before it began'), async () => {
    const reaped = bench.claim({ agent: gate('reaped') });
    bench.server.begin = (attempt) =>
      attempt === reaped.attempt ? { go: false, why: 'reaped' } : { go: true, why: null };
    bench.server.give(reaped);
    await until(() =>
      expect(bench.server.seen.some((s) => s.route === 'begin' && s.attempt === reaped.attempt)).toBe(true),
    );
    await until(() => expect(existsSync(join(bench.home, 'runner', 'attempts', reaped.attempt))).toBe(false));
    await bench.run({ agent: { command: ['true'] } });
    expect(bench.server.facts(reaped.attempt)).toEqual([]);
    expect(existsSync(join(bench.home, 'reaped.starts'))).toBe(false);
  });

  it(verifies('D16')('names a missing program and a missing workspace'), async () => {
    const missing = await bench.run({ agent: { command: ['/no/such/program'] } });
    expect(missing.facts.spawn_error).toMatchObject({ code: 'ENOENT', binary_exists: false, cwd_exists: true });
    const nowhere = await bench.run({ agent: { command: ['true'], workspace: '/no/such/directory' } });
    expect(nowhere.facts.prepare_error).toMatchObject({ code: 'workdir_missing' });
    const none = await bench.run({ agent: { command: null } });
    expect(none.facts.prepare_error?.message).toMatch(/Set command/);
  });

  it(
    verifies('R26', 'R27', 'D21')('ends with its leader though a grandchild keeps stdout open, and leaves no process'),
    async () => {
      const pidFile = join(bench.home, 'grandchild.pid');
      const { claim, facts } = await bench.run({
        agent: { command: [fixture('runner-leaves-grandchild.sh')], env: { PIDFILE: pidFile } },
      });
      expect(facts).toMatchObject({ exit_code: 0, stop: null });
      expect(facts.stragglers).toBeGreaterThanOrEqual(1);
      expect(bench.server.log(claim.attempt).map((e) => e.text)).toEqual(['whole answer']);
      expect(lives(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
    },
  );
});

describe('a stop', () => {
  it(verifies('R25', 'R28', 'D10')('reaches one of three by the claim poll at once; the others go on'), async () => {
    const three = ['a', 'b', 'c'].map((name) => bench.claim({ agent: gate(name) }));
    for (const claim of three) bench.server.give(claim);
    for (const claim of three)
      await bench.server.until(() => bench.server.log(claim.attempt).some((e) => e.text === 'ready'));
    bench.server.stop(three[1]!.attempt, 'cancel');
    const facts = await bench.facts(three[1]!);
    expect(facts).toMatchObject({ stop: { reason: 'cancel' }, signal: 'SIGINT' });
    for (const claim of [three[0]!, three[2]!]) expect(bench.server.facts(claim.attempt)).toEqual([]);
    for (const name of ['a', 'c']) open(name);
    for (const claim of [three[0]!, three[2]!])
      expect(await bench.facts(claim)).toMatchObject({ exit_code: 0, stop: null });
  });

  it(verifies('R7', 'D22')('comes at the deadline with its own reason'), async () => {
    const { facts } = await bench.run({ timeout_s: 1, agent: gate('late') });
    expect(facts).toMatchObject({ stop: { reason: 'deadline', detail: '1 s' }, timeout_s: 1 });
    expect(facts.run_ms).toBeGreaterThanOrEqual(1000);
  });

  it(verifies('R26')('comes when the log is full, also of a program that takes no hint'), async () => {
    const { claim, facts } = await bench.run({ agent: { command: [fixture('runner-spews.sh')] } });
    expect(facts).toMatchObject({ stop: { reason: 'log_limit' }, signal: 'SIGKILL' });
    const shown = bench.server.log(claim.attempt);
    expect(shown.length).toBeGreaterThan(10_000);
    expect(shown.length).toBeLessThan(100_000);
    expect(shown.at(-1)).toMatchObject({ stream: 'drover', text: expect.stringContaining('log_limit') });
  });

  it(verifies('R22')('kills at once what is not ours any more, and delivers the facts all the same'), async () => {
    const claim = bench.claim({ agent: { command: [fixture('runner-spews.sh')] } });
    bench.server.renewed = (attempt) => ({ attempt, state: attempt === claim.attempt ? 'lost' : 'ok' });
    bench.server.give(claim);
    const facts = await bench.facts(claim);
    bench.server.renewed = (attempt) => ({ attempt, state: 'ok' });
    expect(facts.signal).toBe('SIGKILL');
  });
});

describe('a renewal', () => {
  it(verifies('R22')('carries proof of life and the time of the spawn soon after it'), async () => {
    const claim = bench.claim({ agent: gate('renewed') });
    bench.server.give(claim);
    const item = await bench.server.until(() =>
      bench.server.renewals.flatMap((r) => r.attempts).find((a) => a.attempt === claim.attempt && a.proof !== null),
    );
    expect(lives(item.proof!.pid)).toBe(true);
    expect(item).toMatchObject({ token: claim.token });
    expect(item.started_at).toBeGreaterThan(0);
    open('renewed');
    await bench.facts(claim);
  });
});

const open = (name: string, code = 0) => {
  writeFileSync(join(bench.home, `${name}.gate.new`), String(code));
  renameSync(join(bench.home, `${name}.gate.new`), join(bench.home, `${name}.gate`));
};

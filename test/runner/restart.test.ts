/** The runner as its own process, killed with -9 at bad moments; the next one goes on, and nothing runs twice. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runnerRetiredExit } from '../../src/contract/runner-protocol.ts';
import { type Leaf, makeLeaf } from '../../src/runner/launchers/cgroup-leaf.ts';
import { findCgroupPlace } from '../../src/runner/launchers/cgroup-place.ts';
import { leafPrefix } from '../../src/runner/launchers/spawn-process.ts';
import { fixture, lives } from '../support/held.ts';
import { type RunnerBench, runnerBench, until } from '../support/runner-bench.ts';
import { verifies } from '../support/verifies.ts';

let bench: RunnerBench;
let children: ChildProcess[];
beforeEach(async () => {
  children = [];
  bench = await runnerBench({ noRunner: true });
});
afterEach(async () => {
  for (const child of children.filter((c) => c.exitCode === null && c.signalCode === null)) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await bench.end();
});

const start = (): ChildProcess => {
  const child = spawn(process.execPath, [resolve('src/runner/entry.ts')], {
    stdio: ['ignore', 'ignore', 'ignore'],
    env: {
      PATH: process.env.PATH,
      HOME: bench.home,
      DROVER_HOME: bench.home,
      DROVER_SERVER_URL: bench.server.url,
      DROVER_RUNNER_TOKEN: 'runner-key',
    },
  });
  children.push(child);
  return child;
};
const kill = async (child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL') => {
  const gone = once(child, 'exit');
  child.kill(signal);
  return (await gone)[0] as number | null;
};
const gate = (name: string) => ({
  command: [fixture('runner-gate.sh')],
  env: { GATE: join(bench.home, `${name}.gate`), STARTS: join(bench.home, `${name}.starts`) },
});
const open = (name: string, code = 0) => {
  writeFileSync(join(bench.home, `${name}.new`), String(code));
  renameSync(join(bench.home, `${name}.new`), join(bench.home, `${name}.gate`));
};
const starts = (name: string) =>
  readFileSync(join(bench.home, `${name}.starts`), 'utf8')
    .trim()
    .split('\n').length;
const texts = (attempt: string) => bench.server.log(attempt).map((e) => e.text);

describe('kill -9 of the runner in mid-run', () => {
  it(
    verifies('R2', 'R24', 'D29')('the next one holds the same process to its true end, and ran nothing twice'),
    async () => {
      const first = start();
      const claim = bench.claim({ agent: gate('held') });
      bench.server.give(claim);
      await bench.server.until(() => texts(claim.attempt).includes('ready'));
      await kill(first);
      start();
      const again = bench.server.renewals.length;
      await bench.server.until(() => bench.server.renewals.length > again);
      open('held', 7);
      const facts = await bench.facts(claim);
      expect(facts).toMatchObject({ exit_code: 7, signal: null, stop: null, runner_restarts: 1, spawn_error: null });
      expect(facts.run_ms).toBeGreaterThan(0);
      expect(texts(claim.attempt)).toEqual(['ready', 'the last word']);
      expect(starts('held')).toBe(1);
    },
  );

  it(
    verifies('R2', 'D28')('an agent that ended meanwhile is told of with its exit code and its whole log'),
    async () => {
      const first = start();
      const claim = bench.claim({ agent: gate('ended') });
      bench.server.give(claim);
      await bench.server.until(() => texts(claim.attempt).includes('ready'));
      await kill(first);
      open('ended', 3);
      const dir = join(bench.home, 'runner', 'attempts', claim.attempt);
      await until(() => expect(existsSync(join(dir, 'exit.json'))).toBe(true));
      start();
      expect(await bench.facts(claim)).toMatchObject({ exit_code: 3, signal: null, runner_restarts: 1, run_ms: null });
      expect(texts(claim.attempt)).toEqual(['ready', 'the last word']);
      expect(starts('ended')).toBe(1);
    },
  );

  it(verifies('R7')('the deadline still counts from the spawn'), async () => {
    const first = start();
    const claim = bench.claim({ timeout_s: 2, agent: gate('late') });
    bench.server.give(claim);
    await bench.server.until(() => texts(claim.attempt).includes('ready'));
    await kill(first);
    start();
    const facts = await bench.facts(claim);
    expect(facts.stop?.reason).toBe('deadline');
    expect(facts.runner_restarts).toBe(1);
  });
});

describe('facts', () => {
  it(
    verifies('R34', 'D28')('thirty that could not be delivered are delivered by the next runner, each once'),
    async () => {
      const first = start();
      bench.server.fate = (route) => (route === 'facts' ? '503' : 'passes');
      const claims = Array.from({ length: 30 }, () => bench.claim({ agent: { command: ['echo', 'done'] } }));
      for (const claim of claims) bench.server.give(claim);
      const spool = join(bench.home, 'runner', 'attempts');
      await until(() =>
        expect(claims.filter((c) => existsSync(join(spool, c.attempt, 'facts.json')))).toHaveLength(30),
      );
      await kill(first);
      bench.server.fate = () => 'passes';
      start();
      for (const claim of claims) expect((await bench.facts(claim)).exit_code).toBe(0);
      for (const claim of claims) {
        expect(bench.server.facts(claim.attempt)).toHaveLength(1);
        expect(texts(claim.attempt)).toEqual(['done']);
      }
    },
  );

  it(verifies('R34')('are sent again when their acknowledgement was lost, and then no more'), async () => {
    let lost = 0;
    bench.server.fate = (route) => (route === 'facts' && lost++ < 2 ? 'answer_lost' : 'passes');
    start();
    const claim = bench.claim({ agent: { command: ['true'] } });
    bench.server.give(claim);
    const dir = join(bench.home, 'runner', 'attempts', claim.attempt);
    // There before it is filled.
    await until(() => expect(readFileSync(join(dir, 'delivered'), 'utf8')).toBe('replayed'));
    expect(bench.server.facts(claim.attempt)).toHaveLength(3);
  });
});

it(
  verifies('R34', 'D35')('a spool with what nobody understands in it: the rest is taken up, the odd is set aside'),
  async () => {
    const first = start();
    bench.server.fate = (route) => (route === 'facts' ? '503' : 'passes');
    const claim = bench.claim({ agent: { command: ['echo', 'done'] } });
    bench.server.give(claim);
    const spool = join(bench.home, 'runner', 'attempts');
    await until(() => expect(existsSync(join(spool, claim.attempt, 'facts.json'))).toBe(true));
    await kill(first);
    writeFileSync(join(spool, '0-a-file'), 'left here by somebody');
    for (const [name, text] of [
      ['0-torn', '{"execution_id":"x","att'],
      ['0-newer', JSON.stringify({ version: 99, of: 'a newer runner' })],
      ['0-foreign', null],
    ] as const) {
      mkdirSync(join(spool, name));
      writeFileSync(join(spool, name, text === null ? 'notes.txt' : 'claim.json'), text ?? 'mine');
    }
    bench.server.fate = () => 'passes';
    start();
    expect((await bench.facts(claim)).exit_code).toBe(0);
    const aside = join(bench.home, 'runner', 'unreadable');
    await until(() => expect(readdirSync(aside).sort()).toEqual(['0-foreign', '0-newer', '0-torn']));
    expect(readFileSync(join(aside, '0-foreign', 'notes.txt'), 'utf8')).toBe('mine');
    expect(readFileSync(join(spool, '0-a-file'), 'utf8')).toBe('left here by somebody');
  },
);

it(verifies('R22')('says with every poll what it holds, and says goodbye when it leaves'), async () => {
  const bench = await runnerBench();
  try {
    const claim = bench.claim({ agent: { command: ['cat'] } });
    expect(bench.server.polls.every((p) => p.holds?.length === 0)).toBe(true);
    bench.server.give(claim);
    await bench.server.until(() => bench.server.polls.some((p) => p.holds?.includes(claim.attempt)));
    await bench.facts(claim);
    await bench.runner.stop();
    expect(bench.server.goodbyes).toMatchObject([{ host: expect.any(String) }]);
  } finally {
    await bench.end();
  }
});

it(verifies('R22')('leaves a claim that was never begun to the server'), async () => {
  const claim = bench.claim({ agent: gate('never') });
  bench.server.fate = (route) => (route === 'begin' ? 'request_lost' : 'passes');
  const first = start();
  bench.server.give(claim);
  await bench.server.until(() => bench.server.seen.some((s) => s.route === 'begin'));
  await kill(first);
  bench.server.fate = () => 'passes';
  start();
  // It had asked for the go, and the answer is not known: proven that nothing was started, and said so.
  const facts = await bench.facts(claim);
  expect(facts).toMatchObject({ spawned_at: null, pid: null, prepare_error: { code: 'runner_restarted' } });
  expect(existsSync(join(bench.home, 'never.starts'))).toBe(false);
});

it(
  verifies('R45')('what was lent stays hidden when the agent ended while no runner was there, also on disk'),
  async () => {
    const first = start();
    const lent = 'lent "value" of no known form';
    const go = join(bench.home, 'lent.gate');
    const claim = bench.claim({
      agent: { command: ['sh', '-c', `echo "$LENT"; while ! [ -e ${go} ]; do sleep 0.05; done; echo "again $LENT"`] },
      credential: { id: 'c', kind: 'env', env: { LENT: lent } },
    });
    bench.server.give(claim);
    await bench.server.until(() => texts(claim.attempt).includes('[hidden]'));
    await kill(first);
    writeFileSync(go, '');
    const dir = join(bench.home, 'runner', 'attempts', claim.attempt);
    await until(() => expect(existsSync(join(dir, 'exit.json'))).toBe(true));
    start();
    const facts = await bench.facts(claim);
    expect(texts(claim.attempt)).toEqual(['[hidden]', 'again [hidden]']);
    expect(JSON.stringify(facts)).not.toContain('lent \\"value');
    await until(() => expect(readFileSync(join(dir, 'stdout'), 'utf8')).toBe('[hidden]\nagain [hidden]\n'));
    for (const name of readdirSync(dir)) expect(readFileSync(join(dir, name), 'utf8')).not.toMatch(/lent .{0,2}value/);
  },
);

describe('killed between the go and the spawn', () => {
  /** The go was asked for; then everybody is killed, and `left` is what the dead runner had on disk by then. */
  const killedThere = async (name: string, left: (dir: string, attempt: string) => void) => {
    const claim = bench.claim({ agent: gate(name) });
    bench.server.fate = (route) => (route === 'begin' ? 'request_lost' : 'passes');
    const first = start();
    bench.server.give(claim);
    await bench.server.until(() => bench.server.seen.some((s) => s.route === 'begin'));
    await kill(first);
    bench.server.fate = () => 'passes';
    left(join(bench.home, 'runner', 'attempts', claim.attempt), claim.attempt);
    start();
    return bench.facts(claim);
  };
  const record = (attempt: string, more: object) => ({
    version: 1,
    attempt,
    proof: null,
    started_at: null,
    held_by: 'none',
    leaf: null,
    memory_bytes: null,
    oom_kills_before: null,
    host_oom_kills_before: null,
    ...more,
  });

  it(
    verifies('R24')('with an order given to a holder that is gone: it may have run, so it is not run again'),
    async () => {
      const facts = await killedThere('lost', (dir, attempt) =>
        writeFileSync(
          join(dir, 'held.json'),
          JSON.stringify(record(attempt, { holder: { pid: 1, start_time: 1, boot_id: 'another' } })),
        ),
      );
      expect(facts).toMatchObject({
        prepare_error: null,
        exit_code: null,
        signal: null,
        pid: null,
        runner_restarts: 1,
      });
    },
  );

  const place = findCgroupPlace(readFileSync('/proc/self/cgroup', 'utf8'));
  it.skipIf(place === null)(
    'the cgroup that was made for it goes, and one that nobody wrote down goes too',
    async () => {
      const made: string[] = [];
      const make = (attempt: string): Leaf => {
        const leaf = makeLeaf(place!, `${leafPrefix(bench.home)}${attempt}`, { memory_bytes: null, cpu: null });
        made.push(leaf.memory);
        return leaf;
      };
      make('written-down-by-nobody');
      await killedThere('leaf', (dir, attempt) =>
        writeFileSync(join(dir, 'held.json'), JSON.stringify(record(attempt, { leaf: make(attempt) }))),
      );
      await until(() => expect(made.filter((leaf) => existsSync(leaf))).toEqual([]));
    },
  );
});

describe('a second runner on the same home', () => {
  it(verifies('R2')('takes over: the first lets go of its agents and leaves'), async () => {
    const first = start();
    const claim = bench.claim({ agent: gate('taken') });
    bench.server.give(claim);
    await bench.server.until(() => texts(claim.attempt).includes('ready'));
    const left = once(first, 'exit');
    start();
    expect((await left)[0]).toBe(runnerRetiredExit);
    open('taken', 0);
    expect(await bench.facts(claim)).toMatchObject({ exit_code: 0, runner_restarts: 1 });
    expect(starts('taken')).toBe(1);
  });
});

it(
  verifies('R2')('of many that start at once one stays, the last; what it takes up is followed by nobody else'),
  async () => {
    const first = start();
    const claim = bench.claim({ agent: gate('many') });
    bench.server.give(claim);
    await bench.server.until(() => texts(claim.attempt).includes('ready'));
    const others = Array.from({ length: 3 }, () => start());
    const early = [first, ...others.slice(0, -1)].map((child) => once(child, 'exit'));
    for (const [code] of await Promise.all(early)) expect(code).toBe(runnerRetiredExit);
    open('many', 7);
    expect(await bench.facts(claim)).toMatchObject({ exit_code: 7 });
    expect(bench.server.facts(claim.attempt)).toHaveLength(1);
    expect(others.at(-1)!.exitCode).toBeNull();
  },
);

it(verifies('R2')('SIGTERM leaves the agents with the holder and delivers what is ready'), async () => {
  const first = start();
  const claim = bench.claim({ agent: gate('kept') });
  bench.server.give(claim);
  await bench.server.until(() => texts(claim.attempt).includes('ready'));
  const pid = await bench.server.until(
    () => bench.server.renewals.flatMap((r) => r.attempts).find((a) => a.proof !== null)?.proof?.pid,
  );
  expect(await kill(first, 'SIGTERM')).toBe(0);
  expect(lives(pid)).toBe(true);
  open('kept');
  start();
  expect(await bench.facts(claim)).toMatchObject({ exit_code: 0 });
});

it('keeps the newest delivered attempts only', async () => {
  mkdirSync(join(bench.home, 'runner', 'attempts'), { recursive: true });
  for (let n = 0; n < 60; n++) {
    const dir = join(bench.home, 'runner', 'attempts', `0-old-${String(n).padStart(3, '0')}`);
    mkdirSync(dir);
    writeFileSync(join(dir, 'delivered'), 'settled');
  }
  start();
  const claim = bench.claim({ agent: { command: ['true'] } });
  bench.server.give(claim);
  await bench.facts(claim);
  await until(() => expect(readdirSync(join(bench.home, 'runner', 'attempts'))).toHaveLength(40));
});

import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { fixture, type HeldBench, heldBench, lives, noCgroup, until } from '../../../test/support/held.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { emptyFacts, type SpawnError } from '../../contract/facts.ts';
import { holderSocket } from '../../kernel/home-sockets.ts';
import { diagnose } from '../../outcome/diagnose.ts';
import { type Leaf, readCounters } from './cgroup-leaf.ts';
import { readKernelLog } from './kernel-log.ts';

let bench: HeldBench;
afterEach(() => bench.end());

describe('an order', () => {
  beforeEach(async () => {
    bench = await heldBench();
  });

  it(verifies('R2', 'R26')('becomes a process with its streams in files, and its exit code is known'), async () => {
    const held = await bench.run('a1', ['/bin/sh', '-c', 'cat; echo wrong >&2; exit 7'], { stdin: 'hello\n' });
    expect(await held.exited).toMatchObject({ exit_code: 7, signal: null, spawn_error: null });
    expect(bench.text('a1', 'stdout')).toBe('hello\n');
    expect(bench.text('a1', 'stderr')).toBe('wrong\n');
    expect(JSON.parse(bench.text('a1', 'exit.json'))).toMatchObject({ exit_code: 7, signal: null });
    expect(JSON.parse(bench.text('a1', 'held.json'))).toMatchObject({ attempt: 'a1', proof: held.proof });
  });

  it(verifies('D16')('ends by a signal: two fields, never a code of 128 and more'), async () => {
    const own = await bench.run('s1', ['/bin/sh', '-c', 'kill -SEGV $$']);
    expect(await own.exited).toMatchObject({ exit_code: null, signal: 'SIGSEGV' });
    const outside = await bench.run('s2', [fixture('held-signals-told')]);
    await until(() => expect(bench.text('s2', 'stdout')).toContain('ready'));
    process.kill(outside.proof.pid, 'SIGKILL');
    expect(await outside.exited).toMatchObject({ exit_code: null, signal: 'SIGKILL' });
    expect(await bench.launcher.stopped(outside.dir)).toBeNull();
    const folklore = await bench.run('s3', ['/bin/sh', '-c', 'exit 137']);
    expect(await folklore.exited).toMatchObject({ exit_code: 137, signal: null });
  });

  it(verifies('R29', 'D25')('sees exactly the environment that was ordered, and the marker'), async () => {
    process.env.ANTHROPIC_API_KEY = 'sk-stale';
    try {
      const held = await bench.run('e1', ['/usr/bin/env', '-0'], { env: { PATH: '/bin', GREETING: 'a b\nc' } });
      await held.exited;
      const seen = bench.text('e1', 'stdout').split('\0').filter(Boolean).sort();
      expect(seen).toEqual(['DROVER_ATTEMPT=e1', 'GREETING=a b\nc', 'PATH=/bin']);
      expect(readFileSync(`/proc/${bench.holderPid()}/environ`, 'utf8')).not.toContain('=');
      expect(bench.text('e1', 'held.json')).not.toContain('GREETING');
    } finally {
      delete process.env.ANTHROPIC_API_KEY;
    }
  });

  it(verifies('R27')('is the first to go when memory is short: +500; the holder is not'), async () => {
    const held = await bench.run('o1', ['/bin/cat', '/proc/self/oom_score_adj']);
    await held.exited;
    expect(bench.text('o1', 'stdout')).toBe('500\n');
    expect(Number(readFileSync(`/proc/${bench.holderPid()}/oom_score_adj`, 'utf8'))).toBeLessThanOrEqual(0);
  });

  it(verifies('R27')('leads a session and a group of its own'), async () => {
    const held = await bench.run('g1', ['/bin/sh', '-c', 'cut -d" " -f5,6 /proc/$$/stat']);
    await held.exited;
    expect(bench.text('g1', 'stdout')).toBe(`${held.proof.pid} ${held.proof.pid}\n`);
  });
});

describe('a spawn that fails', () => {
  beforeEach(async () => {
    bench = await heldBench();
  });
  const failed = async (attempt: string, argv: string[], more = {}): Promise<SpawnError> => {
    const held = await bench.launcher.spawn(bench.order(attempt, argv, more));
    if (!('spawn_error' in held)) throw new Error('it was started');
    expect(await bench.launcher.reattach(attempt, bench.order(attempt, argv).dir)).toMatchObject({
      ended: { spawn_error: { code: held.spawn_error.code } },
    });
    return held.spawn_error;
  };
  const there = { cwd_exists: true, binary_exists: true };

  it(verifies('D16', 'R33')('is a value that tells a missing program from a missing directory'), async () => {
    expect(await failed('f1', ['no-such-program'])).toMatchObject({ code: 'ENOENT', ...there, binary_exists: false });
    expect(await failed('f2', ['/bin/true'], { cwd: '/nowhere' })).toMatchObject({
      code: 'ENOENT',
      cwd_exists: false,
      binary_exists: true,
    });
    // Node names the script here, and it is there: the interpreter is what is missing.
    expect(await failed('f3', [fixture('held-no-interpreter')])).toMatchObject({ code: 'ENOENT', ...there });
  });

  it(verifies('D16')('is a value for what cannot be executed, and for what the kernel or Node refuses'), async () => {
    expect(await failed('f4', [fixture('held-not-executable')])).toMatchObject({ code: 'EACCES', ...there });
    expect(await failed('f5', ['/etc'])).toMatchObject({ code: 'EACCES', binary_exists: false });
    expect(await failed('f6', ['/bin/echo', 'x'.repeat(200_000)])).toMatchObject({ code: 'E2BIG', ...there });
    expect(await failed('f7', ['/bin/echo', 'x'.repeat(9_000_000)])).toMatchObject({ code: 'E2BIG', ...there });
    expect(await failed('f8', ['/bin/echo', 'a\0b'])).toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
    expect(await failed('f9', [''])).toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
  });

  it('leaves the holder able to go on', async () => {
    await failed('f10', ['no-such-program'], { memory_bytes: 64 * 1024 ** 2 });
    const held = await bench.run('f11', ['/bin/true']);
    expect(await held.exited).toMatchObject({ exit_code: 0 });
  });
});

/** With the cgroup of this machine, and as on a host that has none to give. */
describe.each([
  ['as this machine can', undefined],
  ['without a cgroup', null],
] as const)('the whole tree, %s', (_name, cgroup) => {
  beforeEach(async () => {
    bench = await heldBench(cgroup === null ? { cgroup } : {});
  });
  const pidsOf = (attempt: string) =>
    readFileSync(join(bench.home, attempt), 'utf8').split('\n').filter(Boolean).map(Number);

  it(
    verifies('R26', 'D21')('a grandchild that holds stdout open does not hold the run, and is gone after it'),
    async () => {
      const script = `setsid sleep 3600 & echo $! > ${join(bench.home, 'pid')}; echo result; exit 0`;
      const held = await bench.run('t1', ['/bin/sh', '-c', script]);
      expect(await held.exited).toMatchObject({ exit_code: 0 });
      expect(bench.text('t1', 'stdout')).toBe('result\n');
      const [orphan] = pidsOf('pid');
      expect(lives(orphan!)).toBe(true);
      expect(await bench.launcher.tearDown('t1', held.dir)).toMatchObject({ stragglers: 1 });
      expect(lives(orphan!)).toBe(false);
    },
  );

  it(
    verifies('R27')('forty children in sessions of their own are counted and gone; asked again, the answer stays'),
    async () => {
      const held = await bench.run('t2', [fixture('held-orphans'), '40']);
      await held.exited;
      const torn = await bench.launcher.tearDown('t2', held.dir);
      expect(torn.stragglers).toBe(40);
      expect(await bench.launcher.usage(held)).toBeNull();
      expect(await (await bench.another()).tearDown('t2', held.dir)).toEqual(torn);
    },
  );

  it(verifies('R27')('children that fork while they are killed are gone, too'), async () => {
    const held = await bench.run('t3', [fixture('held-forks-on'), '8']);
    await until(() => expect(bench.text('t3', 'stdout')).toContain('ready'));
    expect((await bench.launcher.usage(held))?.rss_bytes).toBeGreaterThan(0);
    process.kill(held.proof.pid, 'SIGKILL');
    await held.exited;
    expect((await bench.launcher.tearDown('t3', held.dir)).stragglers).toBeGreaterThanOrEqual(8);
    expect(await bench.launcher.usage(held)).toBeNull();
  });

  it('says by what memory is held', async () => {
    const held = await bench.run('t5', ['/bin/true'], { memory_bytes: 64 * 1024 ** 2 });
    await held.exited;
    const { memory } = await bench.launcher.tearDown('t5', held.dir);
    const way = bench.launcher.cgroup;
    expect(memory.held_by).toBe(way === 'none' ? 'rss_watch' : way === 'systemd' ? 'systemd' : `cgroup_${way}`);
    expect(memory.limit_bytes).toBe(64 * 1024 ** 2);
    expect(memory.oom_kills_before).toBe(way === 'none' ? null : 0);
    expect(memory.oom_kills_after).toBe(way === 'none' ? null : 0);
  });
});

describe('in a cgroup', () => {
  const why = noCgroup();
  beforeEach(async () => {
    bench = await heldBench();
  });

  it.skipIf(why !== null)(
    verifies('R27')(
      `what clears its environment and leaves the session is still found (needs a cgroup; ${why ?? 'here is one'})`,
    ),
    async () => {
      const held = await bench.run('t4', [fixture('held-escapes')]);
      await held.exited;
      expect(await bench.launcher.tearDown('t4', held.dir)).toMatchObject({ stragglers: 1 });
    },
  );

  it.skipIf(why !== null)(
    verifies('R27')(`the quickest grandchild is born inside (needs a cgroup; ${why ?? 'here is one'})`),
    async () => {
      for (let i = 0; i < 10; i++) {
        const held = await bench.run(`q${i}`, ['/bin/sh', '-c', 'setsid cat /proc/self/cgroup & wait']);
        await held.exited;
        expect(bench.text(`q${i}`, 'stdout')).toMatch(new RegExp(`/drover-[0-9a-f]{8}-q${i}$`, 'm'));
      }
      const own = readFileSync(`/proc/${bench.holderPid()}/cgroup`, 'utf8');
      expect(own).not.toMatch(/drover-[0-9a-f]{8}-q/);
    },
  );
});

describe('memory', () => {
  const limit = 64 * 1024 ** 2;
  const why = noCgroup();
  const skip = why ?? 'here it is';
  const readsKernelLog = readKernelLog() !== null && readlinkSync('/proc/self/ns/pid') === 'pid:[4026531836]';

  it.skipIf(why !== null)(
    verifies(
      'R27',
      'D17',
    )(`a bomb as the CLI itself: SIGKILL, oom_kill 0 → 1, limit and peak (needs a cgroup; ${skip})`),
    async () => {
      bench = await heldBench();
      const held = await bench.run('m1', [fixture('held-eats-memory')], { memory_bytes: limit });
      expect(await held.exited).toMatchObject({ exit_code: null, signal: 'SIGKILL' });
      const { memory } = await bench.launcher.tearDown('m1', held.dir);
      expect(memory).toMatchObject({ limit_bytes: limit, oom_kills_before: 0, oom_kills_after: 1 });
      expect(memory.peak_bytes).toBeGreaterThan(limit * 0.9);
      expect(memory.peak_bytes).toBeLessThanOrEqual(limit);
      expect(memory.host_oom_kills_after! - memory.host_oom_kills_before!).toBeGreaterThanOrEqual(1);
      if (readsKernelLog)
        expect(memory.logged_kills).toMatchObject([
          {
            by: 'kernel_cgroup',
            victim: 'leader',
            line: expect.stringContaining(`Killed process ${held.proof.pid} (tail)`),
          },
        ]);
      expect(lives(bench.holderPid())).toBe(true);
    },
  );

  it.skipIf(why !== null)(
    verifies(
      'R27',
      'D17',
    )(`a bomb as a child: the CLI goes on and exits 0, the kill is counted (needs a cgroup; ${skip})`),
    async () => {
      bench = await heldBench();
      const held = await bench.run('m2', [fixture('held-child-eats-memory')], { memory_bytes: limit });
      expect(await held.exited).toMatchObject({ exit_code: 0, signal: null });
      expect(bench.text('m2', 'stdout')).toBe('tool ended with 137\n');
      const { memory } = await bench.launcher.tearDown('m2', held.dir);
      expect(memory).toMatchObject({ oom_kills_before: 0, oom_kills_after: 1 });
      if (readsKernelLog) expect(memory.logged_kills).toMatchObject([{ by: 'kernel_cgroup', victim: 'other' }]);
    },
  );

  it.skipIf(why !== null || !readsKernelLog)(
    verifies(
      'R35',
      'D17',
    )(
      `a tool killed for memory and a leader killed by somebody else: the log tells them apart (needs a cgroup and a readable kernel log; ${skip})`,
    ),
    async () => {
      bench = await heldBench();
      const held = await bench.run('m4', [fixture('memory-tool-then-killed')], { memory_bytes: limit });
      const exit = await held.exited;
      expect(exit.signal).toBe('SIGKILL');
      const { memory } = await bench.launcher.tearDown('m4', held.dir);
      expect(memory).toMatchObject({ oom_kills_after: 1, logged_kills: [{ victim: 'other' }] });
      const verdict = diagnose({ ...emptyFacts('command'), signal: exit.signal, spawned_at: 1, memory });
      expect(verdict).toMatchObject({ cause: 'killed_unknown', attention: ['tool_oom'] });
    },
  );

  it.skipIf(why !== null)(
    verifies('R35')(
      `short of memory without a kill: the pages it read again and again are counted (needs a cgroup; ${skip})`,
    ),
    async () => {
      bench = await heldBench();
      const held = await bench.run('m5', [fixture('memory-thrashes')], { memory_bytes: limit });
      const { leaf } = JSON.parse(bench.text('m5', 'held.json')) as { leaf: Leaf };
      await until(() => expect(readCounters(leaf).pressure.refaulted_bytes).toBeGreaterThan(12 * limit));
      await bench.launcher.stop(held, 'deadline', 'end of test', true);
      const exit = await held.exited;
      const { memory } = await bench.launcher.tearDown('m5', held.dir);
      expect(memory).toMatchObject({ oom_kills_after: 0, limit_bytes: limit });
      const facts = {
        ...emptyFacts('command'),
        signal: exit.signal,
        stop: { reason: 'deadline' as const, at: 1, detail: null },
        spawned_at: held.started_at,
        ended_at: exit.at,
        timeout_s: 60,
        memory,
      };
      const verdict = diagnose(facts);
      expect(verdict).toMatchObject({ cause: 'timed_out', attention: ['memory_pressure'] });
      expect(verdict.evidence.at(-1)).toMatch(/^memory pressure: it read \d+ times its memory again/);
      expect(verdict.message).toContain('short of memory');
    },
  );

  it(
    verifies('R27', 'R28')('without a cgroup a run that passes its limit is stopped, and the figures are the reason'),
    async () => {
      bench = await heldBench({ cgroup: null });
      expect(bench.launcher.cgroup).toBe('none');
      const held = await bench.run('m3', [fixture('held-keeps-memory'), '160'], { memory_bytes: limit });
      expect(await held.exited).toMatchObject({ signal: 'SIGINT' });
      const stopped = await bench.launcher.stopped(held.dir);
      expect(stopped).toMatchObject({ reason: 'memory_limit' });
      expect(stopped?.detail).toMatch(/^\d+ MiB in use, limit 64 MiB$/);
      const { memory } = await bench.launcher.tearDown('m3', held.dir);
      expect(memory).toMatchObject({ held_by: 'rss_watch', oom_kills_after: null });
      expect(memory.peak_bytes).toBeGreaterThan(limit);
    },
  );
});

it(verifies('R2')('a home whose path is too long for a socket is served, too'), async () => {
  const parent = mkdtempSync(join(tmpdir(), 'held-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const home = join(parent, 'deep/'.repeat(20), 'home');
  mkdirSync(home, { recursive: true });
  bench = await heldBench({ home });
  const held = await bench.run('long', ['/bin/sh', '-c', 'exit 8']);
  expect(await held.exited).toMatchObject({ exit_code: 8 });
  expect(statSync(dirname(holderSocket(home))).mode & 0o777).toBe(0o700);
});

describe('DROVER_AGENT_USER', () => {
  const why = process.getuid?.() === 0 ? null : 'only root can become another user';

  it.skipIf(why !== null)(
    verifies('R32')(`runs as that user, in a workspace it owns, and cannot write its own ending (${why ?? 'as root'})`),
    async () => {
      bench = await heldBench({ agentUser: 'nobody' });
      expect(bench.launcher.isolation).toBe('user');
      const script =
        'id -u; grep ^Groups /proc/self/status; echo mine > file && echo wrote; echo lie > ../attempts/u1/exit.json';
      const cwd = join(bench.home, 'work');
      mkdirSync(cwd, { mode: 0o700 });
      writeFileSync(join(cwd, 'before'), '', { mode: 0o600 });
      const held = await bench.run('u1', ['/bin/sh', '-c', script], { cwd });
      expect(await held.exited).toMatchObject({ signal: null });
      expect(bench.text('u1', 'stdout')).toMatch(/^65534\nGroups:\s+\nwrote\n$/);
      expect(bench.text('u1', 'stderr')).toContain('ermission denied');
    },
  );
});

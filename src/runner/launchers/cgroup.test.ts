import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { holderSocket } from '../../kernel/home-sockets.ts';
import { makeLeaf, memoryInUse, pidsIn, readCounters } from './cgroup-leaf.ts';
import { findCgroupPlace, parseMounts, pathIn } from './cgroup-place.ts';
import { holderCommand } from './holder-start.ts';

/** Plain directories with the kernel's file names: which files are read and written, not what the kernel makes of it. */
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'held-cgroup-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const lay = (dir: string, files: Record<string, string>) => {
  mkdirSync(join(root, dir), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, dir, name), text);
};
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const v2Mount = () => `30 24 0:26 / ${root} rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n`;
const delegated = {
  'cgroup.controllers': 'cpu memory pids\n',
  'cgroup.procs': '',
  'cgroup.subtree_control': '',
  'cgroup.events': '',
};

describe('the place for runs', () => {
  it('is read from mounts and cgroup lists of any shape', () => {
    const [mount] = parseMounts(
      '41 30 0:30 /docker/ab /sys/fs/my\\040cgroup rw shared:9 - cgroup cgroup rw,cpu,memory',
    );
    expect(mount).toEqual({
      root: '/docker/ab',
      point: '/sys/fs/my cgroup',
      type: 'cgroup',
      options: ['rw', 'cpu', 'memory'],
    });
    expect(pathIn('9:name=systemd:/a\n4:cpu,memory:/x:y\n0::/u', 'memory')).toBe('/x:y');
    expect(pathIn('4:memory:/x\n0::/u', '')).toBe('/u');
    expect(pathIn('4:memory:/x', 'pids')).toBeNull();
  });

  it(verifies('R27')('v2, delegated: what lived there moves into a leaf, the controllers are switched on'), () => {
    lay('svc', delegated);
    writeFileSync(join(root, 'svc', 'cgroup.procs'), '41\n42\n');
    const place = findCgroupPlace('0::/svc\n', v2Mount());
    expect(place).toEqual({ kind: 'v2', base: join(root, 'svc'), home: join(root, 'svc/drover-main') });
    expect(read('svc/drover-main/cgroup.procs')).toBe('42');
    expect(read('svc/cgroup.subtree_control')).toBe('+cpu');
    expect(findCgroupPlace('0::/svc/drover-main\n', v2Mount())).toEqual(place);
  });

  it(verifies('R27')('the same inside the scope of a user’s systemd is called by its name'), () => {
    lay('user/drover-holder-ab-1.scope', delegated);
    expect(findCgroupPlace('0::/user/drover-holder-ab-1.scope\n', v2Mount())?.kind).toBe('systemd');
  });

  it('is none without a memory controller, without the right to write, or out of sight of the mount', () => {
    lay('svc', { ...delegated, 'cgroup.controllers': 'cpu pids\n' });
    expect(findCgroupPlace('0::/svc\n', v2Mount())).toBeNull();
    expect(findCgroupPlace('0::/absent\n', v2Mount())).toBeNull();
    expect(findCgroupPlace('0::/../other\n', v2Mount())).toBeNull();
    expect(
      findCgroupPlace('4:memory:/elsewhere\n', `1 1 0:1 /docker/ab ${root} rw - cgroup cgroup rw,memory\n`),
    ).toBeNull();
  });

  it(verifies('R27')('v1: the memory hierarchy, and cpu when that can be written, too'), () => {
    lay('mem/own', {});
    const mounts = `1 1 0:1 / ${root}/mem rw - cgroup cgroup rw,memory\n2 1 0:2 / ${root}/cpu rw - cgroup cgroup rw,cpu\n`;
    expect(findCgroupPlace('4:memory:/own\n1:cpu:/own\n', mounts)).toEqual({
      kind: 'v1',
      base: join(root, 'mem/own'),
      cpu: null,
    });
    lay('cpu/own', {});
    expect(findCgroupPlace('4:memory:/own\n1:cpu:/own\n', mounts)).toMatchObject({ cpu: join(root, 'cpu/own') });
  });
});

describe('a leaf', () => {
  const limits = { memory_bytes: 64 * 1024 ** 2, cpu: 1.5 };

  it(verifies('R27')('of v2 has its limits, and its counters are read from where the kernel puts them'), () => {
    const leaf = makeLeaf({ kind: 'v2', base: root, home: join(root, 'main') }, 'run', limits);
    expect(leaf.procs).toEqual([{ enter: join(root, 'run/cgroup.procs'), leave: join(root, 'main/cgroup.procs') }]);
    expect(read('run/memory.max')).toBe(String(limits.memory_bytes));
    lay('run', {
      'memory.events': 'low 0\nhigh 0\nmax 12\noom 1\noom_kill 2\noom_group_kill 1\n',
      'memory.events.local': 'low 0\nhigh 0\nmax 12\noom 1\noom_kill 1\noom_group_kill 0\n',
      'memory.peak': '67108864\n',
      'memory.stat': 'anon 4096\nfile 9999\nshmem 1024\nworkingset_refault_anon 1\nworkingset_refault_file 9\n',
      'memory.pressure':
        'some avg10=1.00 avg60=0.00 avg300=0.00 total=9000000\nfull avg10=0.50 avg60=0.00 avg300=0.00 total=2500000\n',
      'cgroup.procs': '7\n8\n',
    });
    lay('run/below', { 'cgroup.procs': '9\n' });
    expect(readCounters(leaf)).toEqual({
      oom_kills: 2,
      oom_group_kills: 1,
      oom_kills_local: 1,
      pressure: { stalled_ms: 2500, refaulted_bytes: 40_960 },
      peak_bytes: 67108864,
      limit_bytes: limits.memory_bytes,
    });
    expect(memoryInUse(leaf)).toBe(5120);
    expect(pidsIn(leaf)).toEqual([9, 7, 8]);
  });

  it(verifies('R27')('of v1 has its limits in two hierarchies'), () => {
    lay('mem', {});
    lay('cpu', {});
    const leaf = makeLeaf({ kind: 'v1', base: join(root, 'mem'), cpu: join(root, 'cpu') }, 'run', limits);
    expect(leaf.procs.map((p) => p.enter)).toEqual([
      join(root, 'mem/run/cgroup.procs'),
      join(root, 'cpu/run/cgroup.procs'),
    ]);
    expect(read('mem/run/memory.limit_in_bytes')).toBe(String(limits.memory_bytes));
    expect([read('cpu/run/cpu.cfs_period_us'), read('cpu/run/cpu.cfs_quota_us')]).toEqual(['100000', '150000']);
    lay('mem/run', {
      'memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 3\n',
      'memory.limit_in_bytes': '9223372036854771712\n',
      'memory.stat': 'workingset_refault_file 1\ntotal_workingset_refault_anon 0\ntotal_workingset_refault_file 5\n',
    });
    expect(readCounters(leaf)).toMatchObject({
      oom_kills: 3,
      oom_kills_local: null,
      limit_bytes: null,
      peak_bytes: null,
      pressure: { stalled_ms: null, refaulted_bytes: 20_480 },
    });
    // Kernels before 5.9 count pages of files and of programs as one; before 4.15 not at all.
    lay('mem/run', { 'memory.stat': 'total_workingset_refault 2\n' });
    expect(readCounters(leaf).pressure.refaulted_bytes).toBe(8192);
    lay('mem/run', { 'memory.stat': 'total_rss 0\n' });
    expect(readCounters(leaf).pressure.refaulted_bytes).toBeNull();
  });

  it('whose name is taken is not made, and the one there stays', () => {
    lay('run', { mark: 'mine' });
    expect(() => makeLeaf({ kind: 'v2', base: root, home: root }, 'run', limits)).toThrow('EEXIST');
    expect(existsSync(join(root, 'run/mark'))).toBe(true);
  });
});

describe('the start of a holder', () => {
  const ask = { home: '/h', socket: '/h/run/holder.sock', entry: '/x/holder.js' };

  it(verifies('R2')('has a socket in DROVER_HOME, or a short one under /tmp when the path is too long for one'), () => {
    expect(holderSocket('/home/me/.drover')).toBe('/home/me/.drover/run/holder.sock');
    const long = holderSocket(`/${'deep/'.repeat(40)}home`);
    expect(long).toMatch(/^\/tmp\/drover-[0-9a-f]{16}\/holder\.sock$/);
    expect(holderSocket(`/${'deep/'.repeat(40)}other`)).not.toBe(long);
  });

  it(verifies('R27')('asks the user’s systemd for a delegated scope when that is the only way to a cgroup'), () => {
    const systemd = { run: '/usr/bin/systemd-run', runtimeDir: '/run/user/1000' };
    const wrapped = holderCommand({ ...ask, inScope: true }, systemd);
    expect(wrapped.argv.slice(0, 5)).toEqual(['/usr/bin/systemd-run', '--user', '--scope', '--quiet', '--collect']);
    expect(wrapped.argv[5]).toMatch(/^--unit=drover-holder-[0-9a-f]{16}-\d+$/);
    expect(wrapped.argv.slice(6, 9)).toEqual(['-p', 'Delegate=yes', '--']);
    expect(wrapped.argv.slice(-3)).toEqual([ask.entry, ask.home, ask.socket]);
    expect(wrapped.env).toEqual({ XDG_RUNTIME_DIR: '/run/user/1000' });
    const plain = holderCommand({ ...ask, inScope: false }, systemd);
    expect(plain.argv[0]).toBe(process.execPath);
    expect(plain.env).toEqual({});
  });
});

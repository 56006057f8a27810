/**
 * Real processes for tests: a DROVER_HOME of its own, the real holder and the process launcher. `end` ends every process that
 * was started here and fails the test when one of them, the holder or a cgroup is left.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, vi } from 'vitest';
import type { Clock } from '../../src/kernel/clock.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { holderSocket } from '../../src/kernel/home-sockets.ts';
import { systemRandom, timeOrderedIds } from '../../src/kernel/ids.ts';
import type { Kernel } from '../../src/kernel/kernel.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { findCgroupPlace } from '../../src/runner/launchers/cgroup-place.ts';
import type { Held, SpawnOrder } from '../../src/runner/launchers/launcher.ts';
import { allPids, ended, statOf } from '../../src/runner/launchers/proc.ts';
import { createProcessLauncher, type ProcessLauncher } from '../../src/runner/launchers/process-launcher.ts';
import { leavesUnder, placeOf, removeLeaves } from './leaves.ts';

export const fixture = (name: string): string => resolve('test/fixtures/agents', name);

/** Why tests of real cgroups cannot run here; null when they can. */
export const noCgroup = (): string | null =>
  findCgroupPlace(readFileSync('/proc/self/cgroup', 'utf8')) === null
    ? 'no writable cgroup with a memory controller on this machine'
    : null;

export const kernelWith = (clock: Clock = systemClock()): Kernel => ({
  clock,
  ids: timeOrderedIds(systemRandom),
  random: systemRandom,
  log: silentLog,
});

export const lives = (pid: number): boolean => {
  const stat = statOf(pid);
  return stat !== null && !ended(stat);
};

/** The condition, looked at until it holds. */
export const until = <T>(look: () => T | Promise<T>): Promise<T> => vi.waitFor(look, { timeout: 20_000, interval: 10 });

const holderPids = (home: string): number[] =>
  allPids().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(home);
    } catch {
      return false;
    }
  });

export interface HeldBench {
  home: string;
  launcher: ProcessLauncher;
  /** A second launcher on the same home, as after a restart of the runner. */
  another(more?: { clock?: Clock }): Promise<ProcessLauncher>;
  order(attempt: string, argv: string[], more?: Partial<SpawnOrder>): SpawnOrder;
  run(attempt: string, argv: string[], more?: Partial<SpawnOrder>): Promise<Held>;
  text(attempt: string, file: 'stdout' | 'stderr' | 'held.json' | 'exit.json'): string;
  holderPid(): number;
  end(): Promise<void>;
}

export const heldBench = async (
  options: { cgroup?: null; clock?: Clock; stopStepMs?: number; agentUser?: string; home?: string } = {},
): Promise<HeldBench> => {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'held-'));
  const open = (clock?: Clock) =>
    createProcessLauncher({
      kernel: kernelWith(clock),
      home,
      agentUser: options.agentUser ?? null,
      ...(options.cgroup === null ? { cgroup: null } : {}),
      ...(options.stopStepMs === undefined ? {} : { stopStepMs: options.stopStepMs }),
    });
  const launcher = await open(options.clock);
  const others: ProcessLauncher[] = [];
  const attempts = new Map<string, string>();
  const dirOf = (attempt: string) => join(home, 'attempts', attempt);
  const order: HeldBench['order'] = (attempt, argv, more) => ({
    attempt,
    dir: dirOf(attempt),
    argv,
    cwd: home,
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    stdin: '',
    memory_bytes: null,
    cpu: null,
    ...more,
  });
  return {
    home,
    launcher,
    another: async (more) => {
      const next = await open(more?.clock);
      others.push(next);
      return next;
    },
    order,
    run: async (attempt, argv, more) => {
      attempts.set(attempt, dirOf(attempt));
      const held = await launcher.spawn(order(attempt, argv, more));
      if ('spawn_error' in held) throw new Error(JSON.stringify(held.spawn_error));
      return held;
    },
    text: (attempt, file) => readFileSync(join(dirOf(attempt), file), 'utf8'),
    holderPid: () => holderPids(home)[0] ?? 0,
    end: async () => {
      const cleaner = await open();
      for (const [attempt, dir] of attempts) {
        const found = await cleaner.reattach(attempt, dir);
        if ('proof' in found) {
          await cleaner.stop(found, 'teardown', 'end of test', true);
          await found.exited;
        }
        await cleaner.tearDown(attempt, dir);
      }
      // A holder stays for whoever else may have an order under way.
      for (const each of [launcher, ...others]) each.close();
      await until(async () => expect(await cleaner.retireHolder()).toBe(true));
      cleaner.close();
      await until(() => expect(holderPids(home)).toEqual([]));
      const left = leavesUnder(placeOf(), home);
      await removeLeaves(placeOf(), home);
      expect(left).toEqual([]);
      rmSync(home, { recursive: true, force: true });
      if (!holderSocket(home).startsWith(home))
        rmSync(join(holderSocket(home), '..'), { recursive: true, force: true });
    },
  };
};

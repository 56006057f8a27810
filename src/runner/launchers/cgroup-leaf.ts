/**
 * The private cgroup of one run: made before the spawn, read before it is removed, never shared, never used again. It holds
 * the memory limit, counts the kernel's kills, and names every process of the tree, whatever session it hides in.
 */
import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { MemoryFacts } from '../../contract/facts.ts';
import type { CgroupPlace } from './cgroup-place.ts';
import { counter, readText } from './proc.ts';

export const Leaf = z.object({
  kind: z.enum(['v2', 'v1', 'systemd']),
  memory: z.string(),
  /** v1 only: the run's directory in the cpu hierarchy. */
  cpu: z.string().nullable(),
  /** One pair per hierarchy for the holder: in, and back. */
  procs: z.array(z.object({ enter: z.string(), leave: z.string() })),
});
export type Leaf = z.infer<typeof Leaf>;

interface LeafLimits {
  memory_bytes: number | null;
  cpu: number | null;
}

/** The kernel's own period; a share of it is what `cpu: 1.5` means. */
const periodUs = 100_000;

const writeIfThere = (path: string, value: string): void => {
  if (existsSync(path)) writeFileSync(path, value);
};

/** Throws what the kernel said; nothing is left behind then. */
export const makeLeaf = (place: CgroupPlace, name: string, limits: LeafLimits): Leaf => {
  const memory = join(place.base, name);
  const procs = (dir: string) => join(dir, 'cgroup.procs');
  const quota = limits.cpu === null ? null : Math.max(1_000, Math.round(limits.cpu * periodUs));
  mkdirSync(memory);
  try {
    if (place.kind !== 'v1') {
      if (limits.memory_bytes !== null) {
        writeFileSync(join(memory, 'memory.max'), String(limits.memory_bytes));
        // Swapping instead of ending would make the limit a matter of hours.
        writeIfThere(join(memory, 'memory.swap.max'), '0');
      }
      if (quota !== null) writeIfThere(join(memory, 'cpu.max'), `${quota} ${periodUs}`);
      return { kind: place.kind, memory, cpu: null, procs: [{ enter: procs(memory), leave: procs(place.home) }] };
    }
    if (limits.memory_bytes !== null) {
      writeFileSync(join(memory, 'memory.limit_in_bytes'), String(limits.memory_bytes));
      // Memory and swap together, after the limit on memory: the other order is refused.
      writeIfThere(join(memory, 'memory.memsw.limit_in_bytes'), String(limits.memory_bytes));
    }
    const leaf: Leaf = { kind: 'v1', memory, cpu: null, procs: [{ enter: procs(memory), leave: procs(place.base) }] };
    if (quota !== null && place.cpu !== null) {
      leaf.cpu = join(place.cpu, name);
      mkdirSync(leaf.cpu);
      writeFileSync(join(leaf.cpu, 'cpu.cfs_period_us'), String(periodUs));
      writeFileSync(join(leaf.cpu, 'cpu.cfs_quota_us'), String(quota));
      leaf.procs.push({ enter: procs(leaf.cpu), leave: procs(place.cpu) });
    }
    return leaf;
  } catch (error) {
    for (const dir of [memory, place.kind === 'v1' && place.cpu !== null ? join(place.cpu, name) : null])
      if (dir !== null && existsSync(dir)) rmdirSync(dir);
    throw error;
  }
};

export interface LeafCounters {
  oom_kills: number | null;
  oom_group_kills: number | null;
  /** Of processes in this very directory. */
  oom_kills_local: number | null;
  pressure: NonNullable<MemoryFacts['pressure']>;
  peak_bytes: number | null;
  limit_bytes: number | null;
}

const number = (path: string): number | null => {
  const text = readText(path)?.trim() ?? '';
  return /^\d+$/.test(text) ? Number(text) : null;
};
/** v1 says "no limit" as the highest number of pages, v2 as `max`. */
const limit = (path: string): number | null => {
  const value = number(path);
  return value !== null && value < 2 ** 60 ? value : null;
};

/** x86-64 and most of arm64; where pages are larger, less is told than was. */
const pageBytes = 4096;
/** `workingset_refault` alone before kernel 5.9. */
const refaulted = (stat: string | null, prefix: string): number | null => {
  const of = (name: string) => counter(stat, `${prefix}workingset_refault${name}`);
  const pages = of('_file') ?? of('');
  return pages === null ? null : (pages + (of('_anon') ?? 0)) * pageBytes;
};

/** `full avg10=0.00 avg60=0.00 avg300=0.00 total=22502`, in µs. */
const stalledMs = (pressure: string | null): number | null => {
  const total = /^full .*\btotal=(\d+)$/m.exec(pressure ?? '')?.[1];
  return total === undefined ? null : Math.round(Number(total) / 1000);
};

export const readCounters = (leaf: Leaf): LeafCounters => {
  const at = (name: string) => join(leaf.memory, name);
  const stat = readText(at('memory.stat'));
  if (leaf.kind === 'v1')
    return {
      oom_kills: counter(readText(at('memory.oom_control')), 'oom_kill'),
      oom_group_kills: null,
      oom_kills_local: null,
      pressure: { stalled_ms: null, refaulted_bytes: refaulted(stat, 'total_') },
      peak_bytes: number(at('memory.max_usage_in_bytes')),
      limit_bytes: limit(at('memory.limit_in_bytes')),
    };
  const events = readText(at('memory.events'));
  return {
    oom_kills: counter(events, 'oom_kill'),
    oom_group_kills: counter(events, 'oom_group_kill'),
    oom_kills_local: counter(readText(at('memory.events.local')), 'oom_kill'),
    pressure: { stalled_ms: stalledMs(readText(at('memory.pressure'))), refaulted_bytes: refaulted(stat, '') },
    peak_bytes: number(at('memory.peak')),
    limit_bytes: limit(at('memory.max')),
  };
};

/** Anonymous and shared memory: page cache is charged too, but it goes when it is needed. */
export const memoryInUse = (leaf: Leaf): number | null => {
  const stat = readText(join(leaf.memory, 'memory.stat'));
  const [anon, shmem] = leaf.kind === 'v1' ? ['total_rss', 'total_shmem'] : ['anon', 'shmem'];
  const own = counter(stat, anon!);
  return own === null ? null : own + (counter(stat, shmem!) ?? 0);
};

const directoriesIn = (dir: string): string[] => {
  try {
    return readdirSync(dir, { withFileTypes: true }).flatMap((e) => (e.isDirectory() ? [e.name] : []));
  } catch {
    return [];
  }
};

/** The leaf and what the agent may have made below it (as root it can), deepest first. */
const directories = (dir: string): string[] => [
  ...directoriesIn(dir).flatMap((name) => directories(join(dir, name))),
  dir,
];

export const pidsIn = (leaf: Leaf): number[] =>
  directories(leaf.memory).flatMap((dir) =>
    (readText(join(dir, 'cgroup.procs')) ?? '').split('\n').filter(Boolean).map(Number),
  );

/** v2 kills a whole subtree in one write, also what forks meanwhile (kernel 5.14). */
export const killLeaf = (leaf: Leaf): void => {
  try {
    writeIfThere(join(leaf.memory, 'cgroup.kill'), '1');
  } catch {
    // The caller goes on pid by pid.
  }
};

/** False while the kernel still counts a dying process in it. */
export const removeLeaf = (leaf: Leaf): boolean => {
  let gone = true;
  for (const dir of [leaf.memory, leaf.cpu].flatMap((d) => (d === null ? [] : directories(d))))
    try {
      rmdirSync(dir);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') gone = false;
    }
  return gone;
};

/** What stands there under that prefix, by the rest of its name. */
export const leavesOf = (place: CgroupPlace, prefix: string): [string, Leaf][] => {
  const cpu = place.kind === 'v1' ? place.cpu : null;
  const names = [place.base, ...(cpu === null ? [] : [cpu])].flatMap((dir) =>
    directoriesIn(dir).filter((name) => name.startsWith(prefix)),
  );
  return [...new Set(names)].map((name) => [
    name.slice(prefix.length),
    { kind: place.kind, memory: join(place.base, name), cpu: cpu === null ? null : join(cpu, name), procs: [] },
  ]);
};

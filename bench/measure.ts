/** What every section of the bench uses: loads in a process of their own, memory of processes, a table. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { node, root } from '../test/support/installation.ts';
import type { LoadPlan, LoadResult } from './load.ts';

export interface Figure {
  what: string;
  value: number;
  unit: string;
  /** The bound this is held against, in the same unit; null = for information. */
  aim: { atMost: number } | { atLeast: number } | null;
}

export const load = async (plan: LoadPlan): Promise<LoadResult> =>
  JSON.parse(
    (await promisify(execFile)(node, [join(root, 'bench/load.ts'), JSON.stringify(plan)], { maxBuffer: 1 << 24 }))
      .stdout,
  );

/** Resident memory of one process in MB. */
export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024;

export const median = (values: number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

export const show = (f: Figure): string => {
  const value = f.value >= 100 ? f.value.toFixed(0) : f.value.toFixed(2);
  const aim = f.aim === null ? '' : 'atMost' in f.aim ? `at most ${f.aim.atMost}` : `at least ${f.aim.atLeast}`;
  const met =
    f.aim === null ? '' : ('atMost' in f.aim ? f.value <= f.aim.atMost : f.value >= f.aim.atLeast) ? 'met' : 'MISSED';
  return `| ${f.what} | ${value} ${f.unit} | ${aim} | ${met} |`;
};

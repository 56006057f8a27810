/**
 * How our programs are started, whoever starts them: `npm start` (its line in package.json is held against this by a test),
 * `bin/drover`, the server (its runner), the runner (its holder). Agents get none of it.
 */

/**
 * Young generations of 4 MB: with the default of 16 a burst leaves 80 MB behind, with 1 MB a submit costs 40 µs more. The old
 * generation is bounded far above anything seen, and below the 2 GB from which V8 copies its built-in code (6 MB).
 */
export const serverArgs = ['--max-semi-space-size=4', '--max-old-space-size=1024'];

export const runnerArgs = ['--optimize-for-size', '--max-semi-space-size=2', '--max-old-space-size=512'];

/**
 * The holder spawns and waits: interpreted it does both as fast, and is 3 MB smaller (as a bundle: Node strips types with
 * WebAssembly, which needs the compiler). 64 MB leave room for some orders of megabytes at once.
 */
export const holderArgs = (entry: string): string[] => [
  ...(entry.endsWith('.ts') ? [] : ['--jitless']),
  '--optimize-for-size',
  '--max-semi-space-size=1',
  '--max-old-space-size=64',
  '--no-warnings',
];

/**
 * Compiled code is kept beside the bundle: 80 ms less to "ready". glibc would keep up to 8 heaps per core for our few threads
 * (10 MB more), and after its first large block it no longer gives back what lies free at a heap's end (2 MB in each process).
 */
export const programEnv = (dist: string) => ({
  NODE_COMPILE_CACHE: `${dist}/.cache`,
  MALLOC_ARENA_MAX: '2',
  MALLOC_TRIM_THRESHOLD_: '131072',
});

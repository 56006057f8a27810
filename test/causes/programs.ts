/** Endings that any program can have: how it was started, stopped, killed, or ran out of something. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixture, noCgroup } from '../support/held.ts';
import type { Ask, Ending, Ground } from './ground.ts';

const mib = 1024 * 1024;
const command = (...argv: string[]): Ask => ({ agent: { command: argv } });
const shell = (script: string): Ask => command('/bin/sh', '-c', script);
const said = ({ bench }: Ground, attempt: string, text: RegExp): Promise<string> =>
  bench.server.until(() => bench.server.log(attempt).find((e) => text.test(e.text ?? ''))?.text);

/** Machine code for a processor that this is not: a header is all that the kernel looks at. */
const foreignProgram = (ground: Ground): string => {
  const header = Buffer.alloc(64);
  header.write('\x7fELF\x02\x01\x01', 'latin1');
  header.writeUInt16LE(2, 16);
  // 0xF3 RISC-V, 0x15 PowerPC: one of them is not ours.
  header.writeUInt16LE(process.arch === 'riscv64' ? 0x15 : 0xf3, 18);
  const path = join(ground.bench.home, 'foreign-program');
  writeFileSync(path, header, { mode: 0o755 });
  return path;
};

export const programs: Ending[] = [
  { cause: 'success', how: 'exit 0', ask: () => command('true') },
  {
    cause: 'cancelled',
    how: 'somebody cancels it while it runs',
    ask: () => command(fixture('causes-says-pid')),
    async meanwhile(ground, claim) {
      await said(ground, claim.attempt, /^\d+$/);
      ground.bench.server.stop(claim.attempt, 'cancel');
    },
    verdict: { retryable: false },
  },
  { cause: 'timed_out', how: 'its time is up', ask: () => ({ ...command('sleep', '3600'), timeout_s: 1 }) },
  {
    cause: 'stalled',
    how: 'it is silent for longer than its agent allows',
    ask: () => ({ agent: { command: [fixture('stall-speaks-then-hangs.sh')], stall_s: 1 } }),
  },
  {
    cause: 'shutdown',
    how: 'its lease is lost: it is not ours any more',
    ask: () => command(fixture('causes-says-pid')),
    async meanwhile(ground, claim) {
      await said(ground, claim.attempt, /^\d+$/);
      ground.bench.server.renewed = (attempt) => ({ attempt, state: attempt === claim.attempt ? 'lost' : 'ok' });
      await ground.bench.facts(claim);
      ground.bench.server.renewed = (attempt) => ({ attempt, state: 'ok' });
    },
  },
  {
    cause: 'oom_killed',
    how: 'it eats all the memory of its cgroup',
    ask: () => ({ agent: { command: [fixture('held-eats-memory')], memory_bytes: 64 * mib } }),
    verdict: { confidence: 'proven', retryable: false },
    missing: noCgroup,
  },
  {
    cause: 'memory_limit',
    how: 'it passes its limit where no cgroup can hold it',
    ask: () => ({ agent: { command: [fixture('held-keeps-memory'), '160'], memory_bytes: 64 * mib } }),
    bare: true,
  },
  {
    cause: 'heap_oom',
    how: 'V8 fills its heap of 20 MB',
    ask: () => ({ agent: { command: [fixture('causes-fills-its-heap')], env: { NODE_24: process.execPath } } }),
    verdict: { mechanism: 'SIGABRT', confidence: 'proven', retryable: false },
  },
  {
    cause: 'log_limit',
    how: 'it prints without end and ignores SIGINT and SIGTERM',
    ask: () => command(fixture('runner-spews.sh')),
    verdict: { mechanism: 'SIGKILL' },
  },
  {
    cause: 'killed_unknown',
    how: 'somebody sends SIGKILL',
    ask: () => command(fixture('causes-says-pid')),
    async meanwhile(ground, claim) {
      process.kill(Number(await said(ground, claim.attempt, /^\d+$/)), 'SIGKILL');
    },
    verdict: { mechanism: 'SIGKILL', confidence: 'unknown' },
  },
  { cause: 'crashed', how: 'SIGSEGV', ask: () => shell('kill -SEGV $$'), verdict: { mechanism: 'SIGSEGV' } },
  { cause: 'crashed', how: 'abort', ask: () => shell('kill -ABRT $$'), verdict: { mechanism: 'SIGABRT' } },
  {
    cause: 'crashed',
    how: 'an exception that nobody catches',
    ask: () => command(process.execPath, '-e', 'throw new TypeError("a is not a function")'),
    verdict: { mechanism: 'exit 1', retryable: false },
  },
  { cause: 'spawn_not_found', how: 'a path that is not there', ask: () => command('/no/such/program') },
  { cause: 'spawn_not_found', how: 'a name that is not in PATH', ask: () => command('no-such-program-anywhere') },
  { cause: 'spawn_not_found', how: 'exit 127 of a shell', ask: () => shell('no-such-program-anywhere') },
  {
    cause: 'spawn_not_executable',
    how: 'a file without the right to be executed',
    ask: () => command(fixture('held-not-executable')),
  },
  {
    cause: 'spawn_not_executable',
    how: 'an interpreter line that names nothing',
    ask: () => command(fixture('causes-bad-shebang')),
  },
  {
    cause: 'spawn_not_executable',
    how: 'machine code of another processor',
    ask: (ground) => command(foreignProgram(ground)),
  },
  { cause: 'spawn_args_too_long', how: 'an argument of 3 MB', ask: () => command('echo', 'x'.repeat(3_000_000)) },
  {
    cause: 'workdir_missing',
    how: 'a workspace that is not there',
    ask: () => ({ agent: { command: ['true'], workspace: '/no/such/directory' } }),
  },
  {
    cause: 'host_resource_exhausted',
    how: 'ENOSPC of its disk',
    ask: () => command(fixture('causes-disk-is-full')),
  },
  {
    cause: 'host_resource_exhausted',
    how: 'RLIMIT_FSIZE: SIGXFSZ',
    ask: (ground) => {
      const workspace = join(ground.bench.home, 'small files only');
      mkdirSync(workspace, { recursive: true });
      return { agent: { command: [fixture('causes-file-too-large')], workspace } };
    },
    verdict: { mechanism: 'SIGXFSZ', retryable: false },
  },
  {
    cause: 'agent_unreachable',
    how: 'a service that is not up',
    ask: (ground) => ({ agent: { adapter: 'http', base_url: ground.deadUrl } }),
    verdict: { retryable: true },
  },
  { cause: 'unknown', how: 'exit 3 without a word', ask: () => shell('exit 3'), verdict: { confidence: 'unknown' } },
];

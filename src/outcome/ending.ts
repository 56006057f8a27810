/**
 * How a process ended: the signal, told by the kernel or hidden in an exit code by a shell. Numbers belong to the CLI that
 * uses them: 144 is HTTP 400 for Gemini CLI and 128+16 elsewhere, so a CLI's own codes never become signals here.
 */
import type { CliKind, Facts } from '../contract/facts.ts';

const byNumber: Record<number, string> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  5: 'SIGTRAP',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  10: 'SIGUSR1',
  11: 'SIGSEGV',
  12: 'SIGUSR2',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
  16: 'SIGSTKFLT',
  24: 'SIGXCPU',
  25: 'SIGXFSZ',
  31: 'SIGSYS',
};

export const signalNumber = (name: string): number | null => {
  for (const [n, s] of Object.entries(byNumber)) if (s === name) return Number(n);
  return null;
};

/** Gemini CLI: process.exit(HTTP status) keeps status mod 256; 130 is its own "cancelled". docs: packages/cli/src/utils/errors.ts. */
const ownCodes: Partial<Record<CliKind, ReadonlySet<number>>> = {
  gemini: new Set([130, 144, 145, 147, 148, 152, 157, 173, 244, 246, 247, 248]),
};

/** Windows reports these instead of a signal (unsigned or signed): access violation, stack overrun, illegal instruction. */
const windowsCrashes: Record<number, string> = {
  3221225477: 'SIGSEGV',
  [-1073741819]: 'SIGSEGV',
  3221226505: 'SIGABRT',
  [-1073740791]: 'SIGABRT',
  3221225501: 'SIGILL',
  [-1073741795]: 'SIGILL',
  // Ctrl-C in a console.
  3221225786: 'SIGINT',
  [-1073741510]: 'SIGINT',
};

export interface Ending {
  exitCode: number | null;
  /** By the kernel, or read from an exit code of 128 + n. */
  signal: string | null;
  /** The leader was ended by SIGKILL (137 through a shell; gVisor says 128). */
  killed: boolean;
}

export const endingOf = (facts: Facts): Ending => {
  const exitCode = facts.exit_code;
  const own = exitCode !== null && ownCodes[facts.stream.cli]?.has(exitCode) === true;
  const hidden =
    exitCode === null || own ? null : (windowsCrashes[exitCode] ?? (exitCode > 128 ? byNumber[exitCode - 128] : null));
  const signal = facts.signal ?? hidden ?? null;
  return { exitCode, signal, killed: signal === 'SIGKILL' || (facts.signal === null && exitCode === 128) };
};

/** `SIGTERM`, `exit 143`; null when nothing is known or the end was clean. */
export const mechanismOf = (ending: Ending, clean: boolean): string | null => {
  if (ending.signal !== null) return ending.signal;
  if (ending.exitCode === null || (clean && ending.exitCode === 0)) return null;
  return `exit ${ending.exitCode}`;
};

/**
 * Nothing ran: the spawn failed, the runner refused before it, or the control plane never reached a process. Node names the
 * BINARY in ENOENT when the directory is missing, so what `stat` said decides; without it the form of the path suggests.
 */
import type { Cause } from '../contract/causes.ts';
import type { Facts, SpawnError } from '../contract/facts.ts';
import type { Finding } from './finding.ts';
import { spokenLines } from './owned-lines.ts';

const start = (cause: Cause, why: string, confidence: Finding['confidence'] = 'proven'): Finding => ({
  cause,
  why,
  tier: null,
  confidence,
});

const spawnFinding = (error: SpawnError): Finding => {
  const why = `spawn ${error.path ?? ''} ${error.code}`.replace(/ +/g, ' ');
  switch (error.code) {
    case 'E2BIG':
    case 'ENAMETOOLONG':
      return start('spawn_args_too_long', why);
    case 'EACCES':
    case 'EPERM':
    case 'ENOEXEC':
    case 'EISDIR':
      return start('spawn_not_executable', why);
    case 'EAGAIN':
    case 'ENOMEM':
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOSPC':
    case 'EDQUOT':
      return start('host_resource_exhausted', why);
    case 'ENOTDIR':
      return start('workdir_missing', why);
    case 'ENOENT':
      return missing(error, why);
    default:
      return { ...start('unknown', why, 'unknown'), retryable: false };
  }
};

const missing = (error: SpawnError, why: string): Finding => {
  if (error.cwd_exists === false) return start('workdir_missing', `${why}; the working directory does not exist`);
  if (error.binary_exists === false) return start('spawn_not_found', `${why}; there is no such program`);
  if (error.binary_exists === true)
    return start('spawn_not_executable', `${why}; the program is there, its interpreter is not`);
  const path = error.path ?? '';
  // Nobody looked. A bare name was searched in PATH; an absolute path had been resolved by somebody, so the directory is the
  // better guess; a relative one was seen in the directory by whoever wrote it, so its interpreter line is.
  if (path === '' || !/[/\\]/.test(path)) return start('spawn_not_found', `${why}: not in PATH`, 'likely');
  if (/^([/\\]|[A-Za-z]:)/.test(path)) return start('workdir_missing', `${why}: the path is absolute`, 'likely');
  return start('spawn_not_executable', `${why}: the path is relative`, 'likely');
};

/** `Error: Failed to spawn Claude Code process: spawn node ENOENT`, and Node's own form. */
const spawnLine = /^(?:Error: )?(Failed to spawn Claude Code process: )?spawn (?:(.+) )?(E[A-Z0-9]+)$/;
/** Bun's form: `E2BIG: argument list too long, posix_spawn 'bun'`. */
const bunLine = /^(?:Error: )?(Failed to spawn Claude Code process: )?(E[A-Z0-9]+): [^,]+, (?:posix_)?spawn '(.+)'$/;
/** Python's; only the errno that exec alone gives count once something has run. */
const pythonLine = /^\w+: \[Errno (\d+)\] [^:]+: '(.+)'$/;
const pythonErrno: Record<string, string> = { 2: 'ENOENT', 7: 'E2BIG', 8: 'ENOEXEC', 13: 'EACCES', 20: 'ENOTDIR' };

const spawnErrorIn = (line: string, nothingRan: boolean): SpawnError | null => {
  const node = spawnLine.exec(line);
  if (node) return nothingRan || node[1] !== undefined ? spawnErrorOf(node[3]!, node[2] ?? '') : null;
  const bun = bunLine.exec(line);
  if (bun) return nothingRan || bun[1] !== undefined ? spawnErrorOf(bun[2]!, bun[3]!) : null;
  const python = pythonLine.exec(line);
  const code = python ? pythonErrno[python[1]!] : undefined;
  if (python && code && (nothingRan || code === 'E2BIG' || code === 'ENOEXEC')) return spawnErrorOf(code, python[2]!);
  return null;
};

/** Windows and POSIX errno that SDKs and port helpers hand on as an exit code (claude-agent-sdk#55, OSA#130). */
const errnoExits: Record<number, string> = {
  [-2]: 'ENOENT',
  [-4058]: 'ENOENT',
  [-13]: 'EACCES',
  [-4092]: 'EACCES',
  [-8]: 'ENOEXEC',
  [-7]: 'E2BIG',
};

export const notStarted = (facts: Facts): Finding | null => {
  if (facts.prepare_error !== null) return prepareFinding(facts.prepare_error);
  if (facts.spawn_error !== null) return spawnFinding(facts.spawn_error);
  const nothingRan = facts.exit_code === null && facts.signal === null;
  const errno = facts.exit_code === null ? undefined : errnoExits[facts.exit_code];
  for (const line of spokenLines(facts.stream)) {
    const failed = spawnErrorIn(line.text.trim(), nothingRan || errno !== undefined);
    if (failed) return spawnFinding(failed);
    if (!nothingRan) continue;
    const own = /^(?:HTTP 503: )?Backend call budget exhausted for .+ after \d+ms \(agent_cap=.+, global_cap=.+\)$/;
    if (own.test(line.text))
      return start('call_budget_exhausted', 'the queue budget ended before a process was started');
    if (unreachable.test(line.text)) return start('agent_unreachable', line.text.slice(0, 200), 'likely');
  }
  return errno === undefined ? null : spawnFinding(spawnErrorOf(errno, ''));
};

/** The libraries with which a control plane reaches its runners, when they did not. */
const unreachable =
  /^(?:(?:\w+\.)*(?:Connect(?:ion)?Error|ConnectTimeout|ClientConnectorError|ConnectionRefusedError|MaxRetryError|NewConnectionError): .*|.*\bAll connection attempts failed\b.*|(?:Error: )?connect (?:ECONNREFUSED|EHOSTUNREACH|ETIMEDOUT)\b.*)$/;

const spawnErrorOf = (code: string, path: string): SpawnError => ({
  code,
  path,
  syscall: 'spawn',
  message: '',
  cwd_exists: null,
  binary_exists: null,
});

/** Refused, or failed, before a process existed. The codes are our own; an errno is a fault of the runner's host. */
const prepareFinding = ({ code, message }: { code: string; message: string }): Finding => {
  const why = `before the start: ${message}`;
  // The runner went, or its holder was not to be had: nothing is wrong with the agent, and nothing ran.
  if (code === 'runner_restarted' || code === 'not_ready') return start('runner_lost', why);
  if (code === 'login_unopened') return start('auth_missing', why);
  if (code === 'workdir_missing' || code === 'workspace_missing') return start('workdir_missing', why);
  if (/^(ENOSPC|EDQUOT|EMFILE|ENFILE|ENOMEM)$/.test(code)) return start('host_resource_exhausted', why);
  if (code === 'runner_fault' || /^E[A-Z0-9]+$/.test(code))
    return { ...start('unknown', why, 'unknown'), retryable: false };
  return start('bad_config', why);
};

/**
 * Sentences that belong to no agent CLI: kernel, memory guards, shells, runtimes, CI runners, libraries of wrappers. They hold
 * for every CLI, name causes only, and never switch. Sources: kernel mm/oom_kill.c, systemd, earlyoom, dash/bash/zsh/cmd.exe,
 * V8, Bun, Rust, Go, CPython, GitHub Actions; cases/README.md 7 and 9.
 */
import type { Context, Finding } from './finding.ts';
import { findingOf, type OwnedSentence, sentenceIn } from './owned-lines.ts';
import { rowOf } from './row-of.ts';

/** The kernel killed a process of this name; only that of the leader counts. */
export const kernelKill =
  /^(?:kernel: |\[[ \d.]+\] |.* kernel: )?(?:Out of memory|Memory cgroup out of memory): Killed process \S+ \(([^)]+)\)/;

/** Names under which the CLIs run: the program or its runtime. */
export const leaderNames = /^(claude|codex|gemini|node|bun|MainThread)$/;

/** Userspace killers announce themselves; the signal alone does not tell them apart. */
export const memoryGuards: readonly OwnedSentence[] = [
  { match: /^(.*: )?systemd-oomd killed \d+ process\(es\) in this unit\.( .*)?$/, cause: 'memory_pressure_killed' },
  { match: /^(.*: )?Failed with result 'oom-kill'\.$/, cause: 'memory_pressure_killed' },
  { match: /^(.*earlyoom\S*: )?sending SIG(TERM|KILL) to process \d+ .*$/, cause: 'memory_pressure_killed' },
  { match: /^(.*: )?The node was low on resource: memory\..*$/, cause: 'memory_pressure_killed' },
];

/** The host of the run goes down, and says so. */
export const shutdowns: readonly OwnedSentence[] = [
  { match: /^##\[error\]The runner has received a shutdown signal\..*$/, cause: 'shutdown' },
  { match: /^##\[error\]The operation was canceled\.$/, cause: 'cancelled' },
];

export const heapSentences: readonly OwnedSentence[] = [
  { match: /^(<--- .* --->|.*)FATAL ERROR: .*\b(heap|Zone) (limit|out of memory)\b.*$/i, cause: 'heap_oom' },
  { match: /^FATAL ERROR: .* (JavaScript heap|process) out of memory$/, cause: 'heap_oom' },
  // V8 without an embedder's word, such as Node with too little address space (`ulimit -v`).
  { match: /^# Fatal (process OOM in|JavaScript out of memory:) .+$/, cause: 'heap_oom' },
  { match: /^(Exception in thread ".*" )?java\.lang\.OutOfMemoryError: .*$/, cause: 'heap_oom' },
  { match: /^fatal error: runtime: out of memory$/, cause: 'heap_oom' },
];

/** Nothing was started, or the program could not be executed. Localised: cmd.exe says it in the language of the host. */
export const spawnSentences: readonly OwnedSentence[] = [
  { match: /^(.*: )?Argument list too long(: '.+')?$/, cause: 'spawn_args_too_long' },
  { match: /^.*\bexec format error\W*$/i, cause: 'spawn_not_executable' },
  { match: /^.*: executable file not found in \$PATH\b.*$/, cause: 'spawn_not_found' },
  { match: /^(.*: )?\d+: \x7fELF.*: not found$/, cause: 'spawn_not_executable' },
  {
    match: /^(\S*sh: )?(line \d+: |\d+: )?\S+: (Permission denied|cannot execute.*|Exec format error)$/,
    cause: 'spawn_not_executable',
  },
  {
    match: /^(\S*sh: )?(line \d+: |\d+: )?\S+: (bad interpreter: .*|.*bad interpreter: No such file or directory)$/,
    cause: 'spawn_not_executable',
  },
  {
    match: /^(\S*sh: )?(line \d+: |\d+: )?(\S+: (command )?not found|command not found: \S+)$/,
    cause: 'spawn_not_found',
  },
  {
    match:
      /^['"]?[^'"]+['"]? (is not recognized as an internal or external command|不是内部或外部命令|no se reconoce como un comando interno|n[’']est pas reconnu en tant que commande interne|è riconosciuto come comando interno).*$/,
    cause: 'spawn_not_found',
  },
  // The program wants a newer libc than the host has.
  { match: /^\S+: \S+: version `\S+' not found \(required by \S+\)$/, cause: 'spawn_not_executable' },
  {
    match: /^\S+: error while loading shared libraries: .+: cannot open shared object file\b.*$/,
    cause: 'spawn_not_executable',
  },
  {
    match: /^(Der Befehl|The term) ["']?\S+["']? (ist entweder falsch geschrieben|is not recognized as).*$/,
    cause: 'spawn_not_found',
  },
];

/** The host ran out of something: errno words at the start of an error line. EDQUOT is a disk quota. ENFILE passes by itself. */
const resourceSentences: readonly OwnedSentence[] = [
  { match: /^(Error: |\w*Error: )?ENFILE: .*$/, cause: 'host_resource_exhausted' },
  {
    match: /^(Error: |\w*Error: )?(ENOSPC|EDQUOT|EMFILE|EFBIG): .*$/,
    cause: 'host_resource_exhausted',
    retryable: false,
  },
  // No process could be made: fork fails for want of pids or memory.
  {
    match: /^(Error: |\w*Error: )?(spawn(Sync)?|fork) (\S+ )?(EAGAIN|ENOMEM|EMFILE|ENFILE)$/,
    cause: 'host_resource_exhausted',
  },
  { match: /^File size limit exceeded.*$/, cause: 'host_resource_exhausted', retryable: false },
  {
    match:
      /^(.*: )?([Nn]o space left on device|Disk quota exceeded|Too many open files( in system)?|Resource temporarily unavailable)( \(os error \d+\))?$/,
    cause: 'host_resource_exhausted',
    retryable: false,
  },
  { match: /^(OSError|IOError): \[Errno (28|122|24|27)\] .*$/, cause: 'host_resource_exhausted', retryable: false },
];

/** Libraries that wrappers raise: they name a cause, but it is not the CLI that speaks, so nothing switches. */
const library = /^(?:litellm|openai|anthropic)(?:\.[\w.]+)?\.(\w+)(?:Error|Exception)?: /;
const libraryCauses: Record<string, OwnedSentence['cause']> = {
  Authentication: 'auth_failed',
  PermissionDenied: 'access_denied',
  RateLimit: 'rate_limited',
  ContextWindowExceeded: 'context_overflow',
  ContentPolicyViolation: 'policy_refusal',
  BadRequest: 'invalid_request',
  NotFound: 'model_unavailable',
  InternalServer: 'api_server_error',
  ServiceUnavailable: 'api_server_error',
  BadGateway: 'api_server_error',
  Overloaded: 'overloaded',
  Timeout: 'network_failure',
  APITimeout: 'network_failure',
  APIConnection: 'network_failure',
  BudgetExceeded: 'budget_exceeded',
};

const others: readonly OwnedSentence[] = [
  {
    match:
      /^(Error: )?(getaddrinfo|connect|read|write) E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|PIPE|HOSTUNREACH|NETUNREACH)\b.*$/,
    cause: 'network_failure',
  },
  { match: /^(TypeError: )?fetch failed$/, cause: 'network_failure' },
  // node's own usage error, exit 9: the CLI never ran.
  { match: /^\S*node(\.exe)?: bad option: .+$/, cause: 'bad_cli_usage' },
  { match: /^WebSocket handshake failed: HTTP (403|407)$/, cause: 'edge_blocked' },
  {
    match: /^(httpx|httpcore)\.(ConnectError|ConnectTimeout|ReadTimeout|ReadError|RemoteProtocolError): .*$/,
    cause: 'network_failure',
  },
  {
    match: /^requests\.exceptions\.(ConnectionError|Timeout|ReadTimeout|ConnectTimeout): .*$/,
    cause: 'network_failure',
  },
  { match: /^requests\.exceptions\.SSLError: .*$/, cause: 'tls_failure' },
];

/** An uncaught exception or a panic, as the runtime prints it. */
const crashes: readonly OwnedSentence[] = [
  { match: /^Traceback \(most recent call last\):$/, cause: 'crashed', retryable: false },
  { match: /^thread '.*' (\(\d+\) )?panicked at .*$/, cause: 'crashed', retryable: false },
  { match: /^panic\(main thread\): .*$/, cause: 'crashed' },
  { match: /^oh no: Bun has crashed\..*$/, cause: 'crashed' },
  { match: /^(panic|fatal error): .*$/, cause: 'crashed', retryable: false },
  { match: /^MemoryError(: .*)?$/, cause: 'crashed', retryable: false },
  { match: /^(node:internal\/|Uncaught )\S.*$/, cause: 'crashed', retryable: false },
  { match: /^(\w+\.)*[A-Z]\w*(Error|Exception)(: .*)?$/, cause: 'crashed', retryable: false },
];

export const hostSentence = (line: string, context: Context): Finding | null => {
  const raised = library.exec(line)?.[1]?.replace(/Error$/, '');
  const cause = rowOf(libraryCauses, raised);
  if (cause) return findingOf({ match: library, cause, switches: null }, line, context);
  const row = sentenceIn([...resourceSentences, ...heapSentences, ...others], line);
  return row ? findingOf(row, line, context) : null;
};

export const crashSentence = (line: string, context: Context): Finding | null => {
  const row = sentenceIn(crashes, line);
  return row ? findingOf(row, line, context) : null;
};

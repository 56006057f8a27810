/**
 * Facts: what was seen of one attempt, and nothing of what it means. The runner fills them, the store keeps them, and
 * `outcome/` can compute the verdict from them again at any time (R5). Null = not measured.
 */
import { z } from 'zod';
import { Stop } from './stop-reasons.ts';

export const cliKinds = ['claude', 'codex', 'gemini', 'command', 'http', 'any'] as const;
export const CliKind = z.enum(cliKinds);
export type CliKind = z.infer<typeof CliKind>;

const ms = z.number().int();
const text = z.string();

/** One whole line that was not structured output. Bounded by its reader: the first 60 and the last 60, 600 characters each. */
export const PlainLine = z.object({
  stream: z.enum(['stdout', 'stderr']),
  text,
  /** True when the model spoke after this line: then it cannot be the reason of the ending. */
  model_output_after: z.boolean(),
});
export type PlainLine = z.infer<typeof PlainLine>;

/** A structured event of the CLI that may matter for the verdict, kept as the CLI sent it (parsed, main thread only). */
export const StreamSignal = z.object({
  /** `rate_limit_event`, `api_retry`, `assistant_error`, `codex_error`, `turn_failed`, `gemini_error`, ... */
  kind: text,
  at: ms.nullable(),
  /** True when the model spoke after it (the CLI went on). */
  model_output_after: z.boolean(),
  data: z.record(text, z.unknown()),
});
export type StreamSignal = z.infer<typeof StreamSignal>;

export const Usage = z.object({
  input_tokens: z.number().int().nonnegative(),
  output_tokens: z.number().int().nonnegative(),
  cache_read_tokens: z.number().int().nonnegative(),
  cache_write_tokens: z.number().int().nonnegative(),
});
export type Usage = z.infer<typeof Usage>;

export const StreamFacts = z.object({
  cli: CliKind,
  cli_version: text.nullable(),
  session_id: text.nullable(),
  model: text.nullable(),
  api_key_source: text.nullable(),
  permission_mode: text.nullable(),
  mcp_servers: z.array(z.object({ name: text, status: text })),
  /** The CLI's terminal event for the prompt, as sent: the first one counts. */
  result: z.record(text, z.unknown()).nullable(),
  results_seen: z.number().int(),
  /** The final answer for the caller. */
  response: text.nullable(),
  signals: z.array(StreamSignal),
  lines: z.array(PlainLine),
  tool_calls: z.number().int(),
  turns: z.number().int(),
  denied_tools: z.array(text),
  /** A tool call that had started and not ended when the stream ended. */
  open_tool: z.object({ name: text, input: text.nullable(), since: ms.nullable() }).nullable(),
  model_spoke: z.boolean(),
  /** The CLI ran with plain output: its stdout is the answer, or the one sentence that says why there is none. */
  text_mode: z.boolean(),
  usage: Usage.nullable(),
  /** Cumulative over `--resume` as the CLI reports it; the difference to `session_cost_before` is this run's. */
  cost_usd: z.number().nullable(),
  cost_estimated: z.boolean(),
  context_used: z.number().int().nullable(),
  context_max: z.number().int().nullable(),
  bytes: z.number().int(),
  unknown_events: z.number().int(),
});
export type StreamFacts = z.infer<typeof StreamFacts>;

export const SpawnError = z.object({
  code: text,
  syscall: text.nullable(),
  path: text.nullable(),
  message: text,
  /** What stat said right after: ENOENT of a missing directory names the binary. Null = not looked. */
  cwd_exists: z.boolean().nullable(),
  binary_exists: z.boolean().nullable(),
});
export type SpawnError = z.infer<typeof SpawnError>;

/** One line of the kernel's log or of a memory guard's that names a process or a cgroup of the run. */
export const LoggedKill = z.object({
  by: z.enum(['kernel_cgroup', 'kernel_host', 'earlyoom', 'systemd_oomd']),
  /** `leader`: the very process. `other`: another one of the run. `all`: the whole cgroup. */
  victim: z.enum(['leader', 'other', 'all']),
  line: text,
});
export type LoggedKill = z.infer<typeof LoggedKill>;

export const MemoryFacts = z.object({
  /** What held the limit: a cgroup, the RSS watch, or nothing. */
  held_by: z.enum(['cgroup_v2', 'cgroup_v1', 'systemd', 'rss_watch', 'none']),
  limit_bytes: z.number().int().nullable(),
  peak_bytes: z.number().int().nullable(),
  oom_kills_before: z.number().int().nullable(),
  oom_kills_after: z.number().int().nullable(),
  oom_group_kills: z.number().int().nullable(),
  /** v2: victims that stood in the run's own directory, where its leader does; what a CLI puts below it is not among them. */
  oom_kills_local: z.number().int().nullish(),
  host_oom_kills_before: z.number().int().nullable(),
  host_oom_kills_after: z.number().int().nullable(),
  /** What the host's logs tell of this run's processes. Null = not readable, or nothing spoke for looking there. */
  logged_kills: z.array(LoggedKill).nullish(),
  /** Waiting for memory over the whole run, which ends nothing and slows everything. Null = not measured. */
  pressure: z
    .object({
      /** v2: time in which no process of the run could go on (memory.pressure, `full`). */
      stalled_ms: z.number().int().nullable(),
      /** Bytes that were read again soon after they had been given up. */
      refaulted_bytes: z.number().int().nullable(),
    })
    .nullish(),
});
export type MemoryFacts = z.infer<typeof MemoryFacts>;

/** What an agent behind HTTP said (adapter `http`). Weak evidence: a status code alone never blames a login. */
export const HttpFacts = z.object({
  accepted: z.boolean(),
  status: z.number().int().nullable(),
  error_code: text.nullable(),
  message: text.nullable(),
  termination_reason: text.nullable(),
  /** Node's code when the connection failed (`ECONNREFUSED`, ...). */
  connect_error: text.nullable(),
});
export type HttpFacts = z.infer<typeof HttpFacts>;

/** What holds a process apart from the user of its runner. */
export const Isolation = z.enum(['none', 'user', 'container']);
export type Isolation = z.infer<typeof Isolation>;

export const Facts = z.object({
  version: z.literal(1),
  spawn_error: SpawnError.nullable(),
  /** Refused by the runner before a process was started: workspace, environment, missing pieces. */
  prepare_error: z.object({ code: text, message: text }).nullable(),
  exit_code: z.number().int().nullable(),
  signal: text.nullable(),
  stop: Stop.nullable(),
  memory: MemoryFacts.nullable(),
  stream: StreamFacts,
  http: HttpFacts.nullable(),
  /** Wall clock, ms UTC. */
  spawned_at: ms.nullable(),
  ended_at: ms.nullable(),
  /** By the monotonic clock: running and waiting apart. Null over a runner restart that lost it. */
  run_ms: ms.nullable(),
  waiting_ms: ms.nullable(),
  timeout_s: z.number().int().nullable(),
  runner_restarts: z.number().int(),
  pid: z.number().int().nullable(),
  host: text.nullable(),
  /** `TZ` of the process: clock times that it prints without a zone are in it. Left out by older runners: UTC. */
  tz: text.nullish(),
  isolation: Isolation.nullable(),
  /** The tree that was kept: ref, commit, and what changed. */
  workspace: z
    .object({
      mode: text,
      path: text,
      ref: text.nullable(),
      commit: text.nullable(),
      files_changed: z.number().int().nullable(),
      insertions: z.number().int().nullable(),
      deletions: z.number().int().nullable(),
      keep_error: text.nullable(),
      /** What changed, for people: bounded, and without what was lent. Left out by older runners. */
      diff: z.object({ text, truncated: z.boolean() }).nullish(),
    })
    .nullable(),
  /** Processes of the tree that outlived the leader and were ended (teardown). */
  stragglers: z.number().int().nullable(),
});
export type Facts = z.infer<typeof Facts>;

export const emptyStream = (cli: CliKind): StreamFacts => ({
  cli,
  cli_version: null,
  session_id: null,
  model: null,
  api_key_source: null,
  permission_mode: null,
  mcp_servers: [],
  result: null,
  results_seen: 0,
  response: null,
  signals: [],
  lines: [],
  tool_calls: 0,
  turns: 0,
  denied_tools: [],
  open_tool: null,
  model_spoke: false,
  text_mode: false,
  usage: null,
  cost_usd: null,
  cost_estimated: false,
  context_used: null,
  context_max: null,
  bytes: 0,
  unknown_events: 0,
});

export const emptyFacts = (cli: CliKind): Facts => ({
  version: 1,
  spawn_error: null,
  prepare_error: null,
  exit_code: null,
  signal: null,
  stop: null,
  memory: null,
  stream: emptyStream(cli),
  http: null,
  spawned_at: null,
  ended_at: null,
  run_ms: null,
  waiting_ms: null,
  timeout_s: null,
  runner_restarts: 0,
  pid: null,
  host: null,
  isolation: null,
  workspace: null,
  stragglers: null,
});

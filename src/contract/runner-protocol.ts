/**
 * The runner's protocol: it pulls claims, asks before it spawns, renews its leases with proof of life, and delivers
 * events and facts until they are acknowledged. Version in `X-Drover-Runner-Protocol`; N and N − 1 are accepted.
 */
import { z } from 'zod';
import { AdapterName, PermissionMode, WorkspaceMode } from './agent.ts';
import { LentCredential } from './credential.ts';
import { RunOptions } from './execution.ts';
import { Facts, Isolation } from './facts.ts';
import { StopReason } from './stop-reasons.ts';

export const runnerProtocol = 1;
export const runnerProtocolHeader = 'x-drover-runner-protocol';
/** The attempt's token where the body is NDJSON and has no place for it (events). */
export const attemptTokenHeader = 'x-drover-attempt-token';
/** Names one MCP tool call of an execution over all its deliveries: a line that breaks is drawn again and joins the wait. */
export const callIdHeader = 'x-drover-call-id';
/** Exit code of a runner that made way for another one on its DROVER_HOME: whoever started it must not start it again. */
export const runnerRetiredExit = 75;

export const RunnerRoom = z.object({
  /** Places for live processes in all (DROVER_RUNNER_SLOTS); null = not set: the fleet limit as it is now, plus the depth of calls. */
  slots: z.number().int().min(1).nullable(),
  memory_total: z.number().int(),
  memory_available: z.number().int(),
  disk_total: z.number().int(),
  disk_available: z.number().int(),
});
export type RunnerRoom = z.infer<typeof RunnerRoom>;

/** How the runs of a host get their cgroups; `none`: limits are held by watching. */
const CgroupKind = z.enum(['v2', 'v1', 'systemd', 'none']);
export type CgroupKind = z.infer<typeof CgroupKind>;

export const ClaimRequest = z.object({
  room: RunnerRoom,
  labels: z.array(z.string()).default([]),
  host: z.string(),
  boot_id: z.string(),
  version: z.string(),
  isolation: Isolation,
  cgroup: CgroupKind,
  /** Claims wanted at most in this answer. */
  max: z.number().int().min(0).max(64).default(8),
  /** Hold the poll this long, at most 25 s. */
  wait_ms: z.number().int().min(0).max(25_000).default(25_000),
  /** Attempts this runner is stopping already: the poll is not answered early for them again. */
  stopping: z.array(z.string()).max(1000).default([]),
  /** Every attempt this runner knows of: a claim it was given and does not know was lost on the way. Null: it does not say. */
  holds: z.array(z.string()).max(10_000).nullable().default(null),
});
export type ClaimRequest = z.infer<typeof ClaimRequest>;

/** What the runner needs of the agent, complete: it knows no database. */
export const ClaimedAgent = z.object({
  id: z.string(),
  name: z.string(),
  adapter: AdapterName,
  model: z.string().nullable(),
  workspace: z.string().nullable(),
  executable: z.string().nullable(),
  command: z.array(z.string()).nullable(),
  base_url: z.string().nullable(),
  env: z.record(z.string(), z.string()),
  memory_bytes: z.number().int().nullable(),
  cpu: z.number().nullable(),
  custom_instructions: z.string().nullable(),
  permission_mode: PermissionMode,
  allowed_tools: z.array(z.string()).nullable(),
  workspace_mode: WorkspaceMode.nullable(),
  max_parallel_tasks: z.number().int(),
  /** Null (and what an older server says): the limits by kind. 0: no limit. */
  stall_s: z.number().int().nullable().default(null),
});
export type ClaimedAgent = z.infer<typeof ClaimedAgent>;

export const ClaimedWork = z.object({
  execution_id: z.string(),
  /** The attempt's id, and its number from 1. */
  attempt: z.string(),
  number: z.number().int(),
  /** Fences every later write. Never logged. */
  token: z.string(),
  kind: z.enum(['chat', 'task']),
  agent: ClaimedAgent,
  message: z.string(),
  options: RunOptions,
  /** Resume this session of the CLI. */
  cli_session_id: z.string().nullable(),
  /** The session's cumulative cost so far, as its CLI last reported it (R41). */
  session_cost_before: z.number().nullable(),
  credential: LentCredential.nullable(),
  /** Secrets of the agent besides its login: names and values for the environment of its process. */
  secrets: z.record(z.string(), z.string()).default({}),
  timeout_s: z.number().int(),
  depth: z.number().int(),
  lease_ms: z.number().int(),
  /** The tree of an earlier attempt to go on from. */
  resume_ref: z.string().nullable(),
});
export type ClaimedWork = z.infer<typeof ClaimedWork>;

/** `stops`: attempts of this runner to stop now. The poll is answered at once for them: a cancel must not wait for a renewal. */
export const ClaimAnswer = z.object({
  claims: z.array(ClaimedWork),
  stops: z.array(z.object({ attempt: z.string(), reason: StopReason })).default([]),
});
export type ClaimAnswer = z.infer<typeof ClaimAnswer>;

/** A runner that leaves: what it keeps of its claims (its agents run on, its spool delivers). The rest is free at once. */
export const GoodbyeRequest = z.object({ host: z.string(), holds: z.array(z.string()).max(10_000) });
export type GoodbyeRequest = z.infer<typeof GoodbyeRequest>;
export const GoodbyeAnswer = z.object({ given_back: z.number().int() });
export type GoodbyeAnswer = z.infer<typeof GoodbyeAnswer>;

export const BeginRequest = z.object({ token: z.string() });
/** 200 `{go:true}`, or `{go:false, why}`: nothing may be spawned then. */
export const BeginAnswer = z.object({ go: z.boolean(), why: z.enum(['cancelled', 'reaped', 'unknown']).nullable() });
export type BeginAnswer = z.infer<typeof BeginAnswer>;

export const ProofOfLife = z.object({
  pid: z.number().int(),
  /** Field 22 of /proc/PID/stat: a reused pid has another. */
  start_time: z.number().int(),
  boot_id: z.string(),
});
export type ProofOfLife = z.infer<typeof ProofOfLife>;

export const RenewItem = z.object({
  attempt: z.string(),
  token: z.string(),
  proof: ProofOfLife.nullable(),
  /** Spawn time by the wall clock once a process exists. */
  started_at: z.number().int().nullable(),
  cpu_ms: z.number().int().nullable(),
  rss_bytes: z.number().int().nullable(),
  /** The model has answered this run: its provider works. Left out by older runners, and until it has. */
  model_spoke: z.boolean().optional(),
});
export type RenewItem = z.infer<typeof RenewItem>;
export const RenewRequest = z.object({ attempts: z.array(RenewItem).max(1000), room: RunnerRoom });
export type RenewRequest = z.infer<typeof RenewRequest>;

export const RenewResult = z.discriminatedUnion('state', [
  z.object({ attempt: z.string(), state: z.literal('ok'), called_ms: z.number().int().optional() }),
  z.object({ attempt: z.string(), state: z.literal('stop'), reason: StopReason }),
  /** `called_ms`: how long this attempt has stood still in calls so far; its run clock takes it off (R7). */
  z.object({
    attempt: z.string(),
    state: z.literal('waiting'),
    since: z.number().int(),
    called_ms: z.number().int().optional(),
  }),
  /** Not this runner's any more: kill at once, deliver the facts all the same. */
  z.object({ attempt: z.string(), state: z.literal('lost') }),
]);
export type RenewResult = z.infer<typeof RenewResult>;
export const RenewAnswer = z.object({ results: z.array(RenewResult), lease_ms: z.number().int() });
export type RenewAnswer = z.infer<typeof RenewAnswer>;

/** Events go as NDJSON, one per line, `seq` rising by one from `first_seq` (query). The answer is the highest stored seq. */
export const LogEntry = z.object({
  at: z.number().int(),
  stream: z.enum(['stdout', 'stderr', 'drover']),
  /** The parsed event of a CLI that speaks JSON, else the text. */
  event: z.record(z.string(), z.unknown()).nullable(),
  text: z.string().nullable(),
});
export type LogEntry = z.infer<typeof LogEntry>;
export const EventsAnswer = z.object({ stored_seq: z.number().int() });

export const FactsRequest = z.object({ token: z.string(), facts: Facts });
export const FactsAnswer = z.object({ result: z.enum(['settled', 'replayed', 'late', 'lost']) });
export type FactsAnswer = z.infer<typeof FactsAnswer>;

/** After a run whose CLI has refreshed its login. Bounded far above an auth.json, which is some KB. */
export const LoginRequest = z.object({ token: z.string(), login: z.string().max(100_000) });
export type LoginRequest = z.infer<typeof LoginRequest>;
/** `older`: the server has a newer one. `foreign`: of another account. `lost`: no such attempt, or its credential is gone. */
export const LoginAnswer = z.object({ result: z.enum(['kept', 'older', 'foreign', 'lost']) });
export type LoginAnswer = z.infer<typeof LoginAnswer>;

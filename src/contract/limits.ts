/** Every limit's name, default and bounds, in one place. docs/limits.md is checked against this table by a test. */

export const limits = {
  /** Running executions per agent; also what an agent without a value of its own gets. */
  maxParallelTasks: { default: 3, min: 1, max: 100 },
  /** Running executions in the fleet. The start value comes from BACKEND_AGENT_CALL_LIMIT; a stored setting wins. */
  agentCallLimit: { default: 8, min: 1, max: 1000 },
  maxBacklogDepth: { default: 200, min: 1, max: 10_000 },
  /** Seconds from spawn to deadline. */
  timeoutS: { default: 3600, min: 10, max: 86_400 },
  /** Seconds a row may wait for a limit; 0 = for ever. */
  queueTimeoutS: { default: 3600, min: 0, max: 30 * 86_400 },
  /** The same for work nobody holds a connection for. */
  durableQueueTimeoutS: { default: 86_400, min: 0, max: 30 * 86_400 },
  /** Tasks of one fan-out: more than any fleet runs at once, and few enough for one transaction. */
  fanOutTasks: { default: 8, min: 1, max: 500 },
  callDepth: { default: 8, min: 1, max: 64 },
  /** Lease of an attempt and how often it is renewed: four renewals may be lost before it ends. */
  leaseMs: 45_000,
  renewMs: 10_000,
  runnerGraceS: { default: 900, min: 30, max: 86_400 },
  retentionDays: { default: 30, min: 1, max: 3_650 },
  /** A row that waits longer than this is told about once. */
  waitWarningMs: 5_000,
  /** batch older than this counts as interactive. */
  batchAgesMs: 15 * 60_000,
  /** After this many nested claims in a row the next slot goes to a waiting root. */
  nestedBurst: 4,
  /** Root work waits while its agent has this many times its cap of live processes. */
  liveBoundFactor: 4,
  /** A message in bytes. Above it: 413 before anything is stored. */
  messageBytes: 1_900_000,
  /** Bytes of one attempt's stdout and stderr together before it is stopped with log_limit. */
  logBytes: 256 * 1024 * 1024,
  /** One silence limit of an agent's own for whatever it waits for; 0 = none. Under 10 s a healthy pause would be one. */
  stallS: { min: 10, max: 86_400 },
  /** SIGINT, this long, SIGTERM, this long, SIGKILL. */
  stopStepMs: 5_000,
  /** Root work starts on no host with less of its memory free, or less disk. */
  memoryFloorPercent: { default: 10, min: 0, max: 90 },
  diskFloorMib: { default: 2048, min: 0, max: 10_000_000 },
  idempotencyMs: 24 * 3_600_000,
  defaultRetries: 2,
} as const;

/**
 * What a run can wait for, and after how many seconds without a sign of progress it is stopped (`stall`). None is below a
 * quarter of an hour: a host that is starved of CPU for ten minutes kills nothing. Each is longer than what the CLI itself
 * allows there, so that the CLI can end it first and say more. Null = silent by nature, no limit.
 */
export const stallLimits = {
  start: {
    seconds: 900,
    about: 'the first event of the CLI',
    why: 'hooks and MCP servers start before it; the CLI gives a hook 600 s',
  },
  model: {
    seconds: 1800,
    about: 'the next word of the model',
    why: 'one block is told when it is whole: 64,000 tokens at 40 a second take 27 minutes; a request that nobody answers is given up by the CLI after 600 s and then tried again, which is a sign',
  },
  shell: {
    seconds: 1800,
    about: 'a command in the shell (`Bash`, `command_execution`, `run_shell_command`)',
    why: 'a build or a test suite may print nothing for long; Claude Code ends a command itself after at most 600 s',
  },
  web: {
    seconds: 900,
    about: 'a web search or a page (`WebFetch`, `WebSearch`, ...)',
    why: 'the CLI gives up on a page after one minute',
  },
  tool: {
    seconds: 900,
    about: 'any other tool of the CLI (`Read`, `Edit`, ...)',
    why: 'they take seconds; a dead network disk takes for ever',
  },
  mcp: {
    seconds: 2700,
    about: 'a tool of an MCP server, or one whose kind is not known',
    why: 'its progress is not in the stream, and Drover switches off the CLI’s own limit of 300 s, because a call to another agent may be silent for long (that one is `waiting`, and does not count at all)',
  },
  subagent: {
    seconds: 2700,
    about: 'a sub-agent (`Task`) of which nothing is seen',
    why: 'it waits for a model and for tools itself; when its tool is seen, that tool’s limit holds',
  },
  output: {
    seconds: null,
    about: 'a line of a program with plain output (adapter `command`)',
    why: 'such a program may be silent until it has its answer',
  },
} as const satisfies Record<string, { seconds: number | null; about: string; why: string }>;
export type StallKind = keyof typeof stallLimits;

/** Why a queued row is not running yet. Exactly one applies: the first that binds, in this order. */
export const waitReasons = [
  'fleet_paused',
  'agent_stopped',
  'provider_paused',
  'budget_spent',
  'not_before',
  'credentials_exhausted',
  'session_busy',
  'no_runner',
  'memory',
  'disk',
  'live_bound',
  'agent_cap',
  'credential_cap',
  'fan_out_cap',
  'fleet_cap',
  'runner_room',
  /** Nothing binds: it stands behind older rows and goes next. */
  'turn',
] as const;
export type WaitReason = (typeof waitReasons)[number];

/** The reasons that are caps: a budget that ends on one of them is `call_budget_exhausted`. */
export const capReasons: readonly WaitReason[] = [
  'agent_cap',
  'fleet_cap',
  'credential_cap',
  'runner_room',
  'fan_out_cap',
  'live_bound',
  'turn',
];

/** Rows of the settings table that the fleet obeys; written by the fleet routes only, never as free settings. */
export const fleetSettings = {
  agentCallLimit: 'agent_call_limit',
  queueTimeoutS: 'queue_timeout_s',
  paused: 'fleet_paused',
} as const;

/** Free settings that Drover itself reads: checked when they are written. */
export const installationSettings = {
  /** An IANA name: the days and months of costs, budgets and reports. Default: the host's. */
  timezone: 'timezone',
  /** Local time `HH:MM` at which the morning report is sent; `off`. Default: 07:00. */
  morningReportAt: 'morning_report_at',
} as const;

export const isFleetSetting = (key: string): boolean => (Object.values(fleetSettings) as string[]).includes(key);

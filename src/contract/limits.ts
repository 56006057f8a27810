/** Every limit's name, default and bounds, in one place. docs/limits.md is checked against this table by a test. */
import { z } from 'zod';

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
  callDepth: { default: 8, min: 1, max: 64 },
  /** Lease of an attempt and how often it is renewed: four renewals may be lost before it ends. */
  leaseMs: 45_000,
  renewMs: 10_000,
  runnerGraceS: { default: 900, min: 30, max: 86_400 },
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
  /** SIGINT, this long, SIGTERM, this long, SIGKILL. */
  stopStepMs: 5_000,
  /** Claims stop below this share of the host's memory, and below this much free disk. */
  memoryFloor: 0.1,
  diskFloorBytes: 2 * 1024 ** 3,
  idempotencyMs: 24 * 3_600_000,
  defaultRetries: 2,
} as const;

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
export const WaitReason = z.enum(waitReasons);
export type WaitReason = z.infer<typeof WaitReason>;

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

/** The fleet on the wire: limits in force with their source, use counted from rows, what waits and why. */
import { z } from 'zod';
import { limits, waitReasons } from './limits.ts';

const WaitReason = z.enum(waitReasons);
const source = z.enum(['setting', 'environment', 'default']);

export const FleetLimitsBody = z.object({
  agent_call_limit: z.number(),
  agent_call_limit_source: source,
  queue_timeout_s: z.number(),
  queue_timeout_source: source,
  ceiling: z.number(),
  paused: z.boolean(),
  running: z.number(),
  waiting: z.number(),
  queued: z.number(),
  oldest_queued_at: z.string().nullable(),
  waiting_by_reason: z.partialRecord(WaitReason, z.number()),
  agents: z.array(
    z.object({
      agent_name: z.string(),
      running: z.number(),
      waiting: z.number(),
      queued: z.number(),
      max_parallel_tasks: z.number(),
    }),
  ),
});

/** Null goes back to the environment's value, or the default. */
export const FleetLimitsChange = z.object({
  agent_call_limit: z.number().int().min(limits.agentCallLimit.min).max(limits.agentCallLimit.max).nullish(),
  queue_timeout_s: z.number().int().min(limits.queueTimeoutS.min).max(limits.queueTimeoutS.max).nullish(),
});

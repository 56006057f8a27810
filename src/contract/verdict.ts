/** Verdict: what the facts mean. Decision: what follows. Both are closed unions, computed in `outcome/` and stored. */
import { z } from 'zod';
import { causeNames } from './causes.ts';

const Cause = z.enum(causeNames);

const Confidence = z.enum(['proven', 'likely', 'unknown']);

export const Verdict = z.object({
  cause: Cause,
  secondary: z.array(Cause),
  /** How the process ended, when that differs from the cause: `SIGTERM`, `exit 1`. */
  mechanism: z.string().nullable(),
  confidence: Confidence,
  /** `structured`, or `line`: a whole sentence that this CLI owns. Null when neither decided. */
  tier: z.enum(['structured', 'line']).nullable(),
  /** In words: what decided, then the rest. */
  evidence: z.array(z.string()),
  retryable: z.boolean(),
  /** True only for S causes with proof that the model API spoke. Null = cannot be decided from these facts. */
  switch_credential: z.boolean().nullable(),
  reset_at: z.number().int().nullable(),
  /** Rendered once; nothing parses it. Empty for success. */
  message: z.string(),
  attention: z.array(
    z.enum([
      'blocked_tools',
      'permission_mode_differs',
      'tool_oom',
      'memory_pressure',
      'stragglers',
      'work_not_kept',
      'login_differs',
    ]),
  ),
});
export type Verdict = z.infer<typeof Verdict>;

export const Decision = z.discriminatedUnion('kind', [
  /** Terminal. `why` where another ending was possible. */
  z.object({
    kind: z.literal('end'),
    status: z.enum(['success', 'failed', 'cancelled']),
    why: z.string().optional(),
  }),
  /** Queued again with `not_before`; the session is resumed when there is one. */
  z.object({ kind: z.literal('retry'), after_ms: z.number().int().nonnegative(), why: z.string() }),
  /** Queued again at once, to go on with another credential: at most one of these in an execution. */
  z.object({ kind: z.literal('switch'), from: z.string(), to: z.string(), why: z.string() }),
  /**
   * Queued again until a known reset; does not spend the queue budget. `for: login`: it waits for any credential that is good, and
   * one that comes earlier wakes it. `for: time`: until then, whatever else is good.
   */
  z.object({
    kind: z.literal('park'),
    until: z.number().int(),
    why: z.string(),
    for: z.enum(['login', 'time']).optional(),
  }),
]);
export type Decision = z.infer<typeof Decision>;

/**
 * Why Drover itself stopped a process. The reason is written before the first signal (cause before kill), and the first
 * one written wins: a deadline that fires during a cancel stays a cancel.
 */
import { z } from 'zod';

export const stopReasons = [
  'cancel',
  'deadline',
  'stall',
  'log_limit',
  'memory_limit',
  'evidence_stop',
  'teardown',
  'shutdown',
] as const;
export const StopReason = z.enum(stopReasons);
export type StopReason = z.infer<typeof StopReason>;

/** One stop, as asked for, as recorded and as reported; `detail` is for people. */
export const Stop = z.object({ reason: StopReason, at: z.number().int(), detail: z.string().nullable() });
export type Stop = z.infer<typeof Stop>;

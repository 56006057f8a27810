/**
 * The morning report (R42): what happened in a night, what was saved, what needs a person, what it cost. Ready to be shown: page,
 * command line and webhook carry the same shape. Times are ISO 8601, amounts US dollars, counts from rows.
 */
import { z } from 'zod';
import { causeNames } from './causes.ts';
import { ItemKind, Severity } from './operator.ts';

export const MorningReport = z.object({
  /** The local day on which it is read. */
  day: z.string(),
  timezone: z.string(),
  from: z.string(),
  to: z.string(),
  happened: z.object({
    ended: z.number(),
    good: z.number(),
    failed: z.number(),
    cancelled: z.number(),
    running: z.number(),
    queued: z.number(),
    by_cause: z.array(z.object({ cause: z.enum(causeNames), title: z.string(), count: z.number() })),
    by_agent: z.array(
      z.object({ agent_name: z.string(), good: z.number(), failed: z.number(), cancelled: z.number() }),
    ),
    incidents: z.array(
      z.object({
        id: z.string(),
        provider: z.string(),
        cause: z.enum(causeNames),
        opened_at: z.string(),
        closed_at: z.string().nullable(),
        failures: z.number(),
        agents: z.array(z.string()),
      }),
    ),
  }),
  saved: z.object({
    /** Ended well after a try that had failed. */
    retried: z.number(),
    /** Of them, those that went on in the CLI's session of before. */
    resumed: z.number(),
    /** Times that work waited for a reset or the end of an incident instead of failing. */
    parked: z.number(),
    /** Ended well on another login than they had begun on. */
    switched: z.number(),
  }),
  needs_you: z.array(
    z.object({
      id: z.string(),
      kind: ItemKind,
      severity: Severity,
      agent_name: z.string().nullable(),
      title: z.string(),
      count: z.number(),
    }),
  ),
  cost: z.object({
    total_usd: z.number(),
    billed_usd: z.number(),
    notional_usd: z.number(),
    unknown_usd: z.number(),
    estimated_usd: z.number(),
    /** Of what ended in that time: attempts that led to nothing. */
    wasted_usd: z.number(),
    unpriced_runs: z.number(),
    by_agent: z.array(z.object({ agent_name: z.string(), cost_usd: z.number() })),
  }),
  /** The same in sentences. */
  text: z.string(),
});
export type MorningReport = z.infer<typeof MorningReport>;

export const morningLimits = {
  /** Local time at which the night began. */
  nightFrom: '18:00',
  /** Local time at which the report is sent, unless the setting says otherwise. */
  sentAt: '07:00',
  /** A server that was down then sends it when it is back, but not in the afternoon. */
  lateMs: 6 * 3_600_000,
  shownItems: 50,
} as const;

/** `HH:MM`, or null when it is none. */
export const clockTime = (text: string): { hour: number; minute: number } | null => {
  const [hour, minute, ...more] = text.split(':').map((part) => (part.length === 2 ? Number(part) : Number.NaN));
  const whole = (n: number | undefined, most: number): n is number => Number.isInteger(n) && n! >= 0 && n! <= most;
  return more.length === 0 && whole(hour, 23) && whole(minute, 59) ? { hour, minute } : null;
};

/** A report on its way to the notification target. */
export interface MorningSending {
  day: string;
  report: MorningReport;
  attempts: number;
  created_at: number;
  created_steady: number;
}

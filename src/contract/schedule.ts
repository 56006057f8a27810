/**
 * Schedules: work that time asks for (R43). A schedule belongs to one agent; each of its ticks is one execution, also one that is
 * not run (born `skipped`, with the reason in its error), and one row in the record of ticks: unique by (schedule_id, fire_at).
 */
export const overlaps = ['skip', 'queue'] as const;
/** `skip`: while an earlier run goes, a tick is skipped. `queue`: it stands in the queue behind it. */
type Overlap = (typeof overlaps)[number];

export const catchUps = ['none', 'once', 'all'] as const;
/** What becomes of ticks that passed while no server was up: skipped all, the newest one run, or all run. */
type CatchUp = (typeof catchUps)[number];

export const scheduleLimits = {
  perAgent: 200,
  nameChars: 200,
  descriptionChars: 2_000,
  cronChars: 200,
  jitterS: { default: 0, max: 3_600 },
  /** A tick that is later than this was missed: a busy server is late by seconds, one that was down by minutes. */
  lateMs: 60_000,
  /** Ticks of one schedule that are made up for or recorded after a long absence, the newest ones: finding 500 takes 40 ms. */
  missedMax: 500,
  preview: { default: 5, max: 50 },
} as const;

/** Times are wall-clock ms. */
export interface ScheduleRow {
  id: string;
  agent_id: string;
  agent_name: string;
  name: string;
  description: string | null;
  cron_expression: string;
  timezone: string;
  message: string;
  model: string | null;
  enabled: boolean;
  overlap: Overlap;
  catch_up: CatchUp;
  jitter_s: number;
  timeout_s: number | null;
  max_retries: number | null;
  /** The cron time of its next tick; null while it is off, or when there is none any more. */
  next_fire_at: number | null;
  /** The same with its jitter: when it is really due. */
  next_due_at: number | null;
  last_fire_at: number | null;
  created_by: string;
  created_at: number;
  updated_at: number;
}

/** The setting that holds all schedules still. */
export const schedulesPausedKey = 'schedules_paused';

/** Which tick an execution is; checked in the transaction that stores it. */
export interface Tick {
  schedule_id: string;
  fire_at: number;
  /** `next_fire_at` as it was read: when it is another by now, the tick was taken or the schedule changed. Null: by hand. */
  expected: number | null;
  next: { fire_at: number; due_at: number } | null;
}

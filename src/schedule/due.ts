/**
 * What of a schedule is due, and what becomes of it: run or skip, by its policy for what was missed. Pure: the same row and the
 * same time give the same plan, so that a server killed in the middle goes on where the store stands. Overlap is not decided
 * here: only the transaction that stores the tick knows what runs.
 */
import { createHash } from 'node:crypto';
import { type ScheduleRow, scheduleLimits } from '../contract/schedule.ts';
import { pointsAfter, pointsBefore } from './cron.ts';

type Timed = Pick<ScheduleRow, 'id' | 'cron_expression' | 'timezone' | 'jitter_s'>;

export interface Point {
  fire_at: number;
  due_at: number;
}
export interface PlannedTick extends Point {
  /** Null = it runs. */
  skip: string | null;
}
interface Plan {
  ticks: PlannedTick[];
  next: Point | null;
  /** Older missed ticks than are recorded. */
  dropped: boolean;
}

/** Spread, yet the same whenever it is asked: a hash of schedule and tick, from 0 to the whole jitter. */
const withJitter = (s: Pick<Timed, 'id' | 'jitter_s'>, fire_at: number): Point => {
  const share = createHash('sha256').update(`${s.id}:${fire_at}`).digest().readUInt32BE(0) / 2 ** 32;
  return { fire_at, due_at: fire_at + Math.floor(share * s.jitter_s * 1000) };
};

export const nextPoints = (s: Timed, after: number, n: number): Point[] =>
  pointsAfter(s.cron_expression, s.timezone, after, n).map((at) => withJitter(s, at));

export const nextPoint = (s: Timed, after: number): Point | null => nextPoints(s, after, 1)[0] ?? null;

const pausedWords = 'Skipped: schedules were paused.';
const missedWords = 'Skipped: no server was up when it was due.';

/** `paused`: all schedules are held still; their ticks are skipped. */
export const planTicks = (s: ScheduleRow, now: number, paused: boolean): Plan => {
  if (s.next_fire_at === null) return { ticks: [], next: null, dropped: false };
  const { points, dropped } = duePoints(s, s.next_fire_at, now);
  const next = points.length === 0 ? withJitter(s, s.next_fire_at) : nextPoint(s, points.at(-1)!.fire_at);
  const missed = points.filter((p) => now - p.due_at > scheduleLimits.lateMs);
  const newestMissed = missed.at(-1)?.fire_at;
  const skip = (p: Point): string | null => {
    if (paused) return pausedWords;
    if (now - p.due_at <= scheduleLimits.lateMs || s.catch_up === 'all') return null;
    return s.catch_up === 'once' && p.fire_at === newestMissed ? null : missedWords;
  };
  return { ticks: points.map((p) => ({ ...p, skip: skip(p) })), next, dropped };
};

/** In the order of their cron times; ends at the first that its jitter holds back. */
const duePoints = (s: ScheduleRow, first: number, now: number): { points: Point[]; dropped: boolean } => {
  if (first > now) return { points: [], dropped: false };
  const all = pointsBefore(s.cron_expression, s.timezone, now, scheduleLimits.missedMax).filter((at) => at > first);
  const dropped = all.length === scheduleLimits.missedMax;
  // The stored one stands also when the pattern would not give it (a time zone whose rules were changed).
  const points = (dropped ? all : [first, ...all]).map((at) => withJitter(s, at));
  const held = points.findIndex((p) => p.due_at > now);
  return { points: held === -1 ? points : points.slice(0, held), dropped };
};

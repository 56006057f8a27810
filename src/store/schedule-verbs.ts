/**
 * The verbs about schedules: a part of the page of verbs in store.ts, with the same promises. The tick itself is stored by
 * `enqueue` (with `tick`) or `skip_ticks`: each moves its schedule on in the same transaction, by compare-and-set.
 */
import type { Refusal } from '../contract/errors.ts';
import type { ExecutionRow, ExecutionTexts } from '../contract/execution.ts';
import type { ScheduleRow, Tick } from '../contract/schedule.ts';

type SchedulePatch = Partial<
  Omit<ScheduleRow, 'id' | 'agent_id' | 'agent_name' | 'last_fire_at' | 'created_by' | 'created_at' | 'updated_at'>
>;

interface SkippedTick {
  fire_at: number;
  execution_id: string;
  /** Why, for people: the error of the execution. */
  reason: string;
}

export interface ScheduleWrites {
  create_schedule: [{ schedule: ScheduleRow }, ScheduleRow | Refusal];
  update_schedule: [{ id: string; patch: SchedulePatch }, ScheduleRow | Refusal | null];
  delete_schedule: [{ id: string }, { deleted: boolean }];
  /** `moved` false: the schedule is not where it was expected any more, and nothing was stored. */
  skip_ticks: [
    { schedule_id: string; expected: number; ticks: SkippedTick[]; next: Tick['next']; timeout_s: number },
    { moved: boolean },
  ];
}

export interface ScheduleReads {
  /** In the order of agents and names. */
  schedules: [{ agent_id?: string }, ScheduleRow[]];
  schedule: [{ id: string }, ScheduleRow | null];
  /** What is due, oldest first; and when the next one is. */
  due_schedules: [{ now: number; limit: number }, { due: ScheduleRow[]; next: number | null }];
  /** Ticks of a schedule, newest first. */
  schedule_ticks: [
    { schedule_id: string; before?: number; limit: number },
    { fire_at: number; by_hand: boolean; execution: ExecutionRow & ExecutionTexts }[],
  ];
  tick_of: [{ execution_id: string }, { schedule_id: string; name: string | null; fire_at: number } | null];
}

/**
 * A schedule → work, by the door all work takes (flow/submit.ts). A tick is submitted with its place in the schedule, so that the
 * store takes it once; by hand it is submitted in the name of the person who asked. What is refused is told by the caller.
 */
import type { ExecutionRequest, Trigger } from '../contract/execution.ts';
import type { Principal } from '../contract/principal.ts';
import type { ScheduleRow } from '../contract/schedule.ts';
import type { Deps } from '../flow/deps.ts';
import { submit } from '../flow/submit.ts';
import { unheldTask } from '../flow/unheld-task.ts';
import type { EnqueueResult } from '../store/store.ts';
import type { PlannedTick, Point } from './due.ts';

const requestOf = (s: ScheduleRow, triggered_by: Trigger): ExecutionRequest =>
  unheldTask({
    agent_name: s.agent_name,
    message: s.message,
    triggered_by,
    options: { model: s.model },
    timeout_s: s.timeout_s,
    max_retries: s.max_retries,
  });

/** `expected`: where the schedule stood when this was planned; `next`: where it stands when this is stored. */
export const submitTick = (
  deps: Deps,
  s: ScheduleRow,
  tick: PlannedTick,
  { expected, next }: { expected: number; next: Point | null },
): Promise<EnqueueResult> =>
  submit(deps, requestOf(s, 'schedule'), { kind: 'system', id: `schedule:${s.id}`, name: s.name }, null, null, {
    schedule_id: s.id,
    fire_at: tick.fire_at,
    expected,
    next,
  });

export const runByHand = (deps: Deps, s: ScheduleRow, principal: Principal): Promise<EnqueueResult> =>
  submit(deps, requestOf(s, 'manual'), principal, null, null, {
    schedule_id: s.id,
    fire_at: deps.kernel.clock.now(),
    expected: null,
    next: null,
  });

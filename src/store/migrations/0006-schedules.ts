/**
 * Schedules and their ticks. A tick is one row and one execution, also one that was skipped: the primary key is what makes it
 * impossible to run one twice. Times are wall-clock ms: a cron time is what a person reads on a clock.
 */
import type { Words } from './words.ts';

export const schedules = (w: Words): string[] => [
  `CREATE TABLE schedules (
    id TEXT NOT NULL PRIMARY KEY,
    agent_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    cron_expression TEXT NOT NULL,
    timezone TEXT NOT NULL,
    message TEXT NOT NULL,
    model TEXT,
    enabled ${w.int} NOT NULL CHECK (enabled IN (0, 1)),
    overlap TEXT NOT NULL CHECK (overlap IN ('skip', 'queue')),
    catch_up TEXT NOT NULL CHECK (catch_up IN ('none', 'once', 'all')),
    jitter_s ${w.int} NOT NULL CHECK (jitter_s >= 0),
    timeout_s ${w.int},
    max_retries ${w.int},
    next_fire_at ${w.int},
    next_due_at ${w.int},
    last_fire_at ${w.int},
    created_by TEXT NOT NULL,
    created_at ${w.int} NOT NULL,
    updated_at ${w.int} NOT NULL,
    CONSTRAINT due_is_enabled CHECK ((next_due_at IS NULL) = (next_fire_at IS NULL) AND (next_fire_at IS NULL OR enabled = 1))
  )${w.table}`,
  `CREATE UNIQUE INDEX schedules_agent ON schedules (agent_id, name)`,
  `CREATE INDEX schedules_due ON schedules (next_due_at, id) WHERE next_due_at IS NOT NULL`,
  // ran: 0 = skipped. by_hand: a person asked; it moves no schedule on.
  `CREATE TABLE ticks (
    schedule_id TEXT NOT NULL,
    fire_at ${w.int} NOT NULL,
    execution_id TEXT NOT NULL,
    ran ${w.int} NOT NULL CHECK (ran IN (0, 1)),
    by_hand ${w.int} NOT NULL CHECK (by_hand IN (0, 1)),
    PRIMARY KEY (schedule_id, fire_at)
  )${w.keyed}`,
  `CREATE INDEX ticks_ran ON ticks (schedule_id, fire_at) WHERE ran = 1`,
  `CREATE UNIQUE INDEX ticks_execution ON ticks (execution_id)`,
];

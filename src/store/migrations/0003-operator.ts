/**
 * Operator items at full strength: episodes that open again and close by themselves, questions whose answers must reach who
 * asked, the same ending several times in a row, and notifications that survive a restart.
 *
 * Steady ms: `created_steady due_steady`, and the times in `streaks.times`; all others are wall-clock ms.
 */
import type { Words } from './words.ts';

export const operator = (w: Words): string[] => [
  // last_at: when it was raised last. quiet_ms: how long it must be quiet before a success closes it; null = never.
  `ALTER TABLE operator_items ADD COLUMN last_at ${w.int}`,
  `ALTER TABLE operator_items ADD COLUMN quiet_ms ${w.int}`,
  `ALTER TABLE operator_items ADD COLUMN acknowledged_at ${w.int}`,
  `ALTER TABLE operator_items ADD COLUMN options TEXT`,
  `ALTER TABLE operator_items ADD COLUMN session_id TEXT`,
  `ALTER TABLE operator_items ADD COLUMN answered_by TEXT`,
  `ALTER TABLE operator_items ADD COLUMN note TEXT`,
  `ALTER TABLE operator_items ADD COLUMN delivery TEXT CHECK (delivery IN ('pending', 'returned', 'resumed', 'failed'))`,
  `ALTER TABLE operator_items ADD COLUMN delivery_note TEXT`,
  `ALTER TABLE operator_items ADD COLUMN answer_execution_id TEXT`,
  // What is live of a subject: asked at every ending.
  `CREATE INDEX operator_items_live ON operator_items (subject, status)`,
  `CREATE INDEX operator_items_pending ON operator_items (id) WHERE delivery = 'pending'`,

  // The last endings of an agent as long as they are of one cause; a success deletes the row.
  `CREATE TABLE streaks (
    agent_id TEXT NOT NULL PRIMARY KEY,
    cause TEXT NOT NULL,
    times TEXT NOT NULL
  )${w.keyed}`,

  // Where notifications go. sealed holds the address and the secret; shown is what people may read of the address.
  `CREATE TABLE notify_targets (
    id TEXT NOT NULL PRIMARY KEY,
    format TEXT NOT NULL CHECK (format IN ('json', 'slack')),
    min_severity TEXT NOT NULL CHECK (min_severity IN ('low', 'normal', 'high')),
    sealed TEXT NOT NULL,
    shown TEXT NOT NULL,
    signed ${w.int} NOT NULL CHECK (signed IN (0, 1)),
    created_at ${w.int} NOT NULL,
    updated_at ${w.int} NOT NULL
  )${w.table}`,
  // One row per edge of an item, written in the transaction that made the edge.
  `CREATE TABLE notifications (
    id ${w.eventId},
    item_id TEXT NOT NULL,
    edge TEXT NOT NULL CHECK (edge IN ('opened', 'reopened', 'escalated')),
    item TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'gave_up')),
    attempts ${w.int} NOT NULL DEFAULT 0,
    last_error TEXT,
    created_at ${w.int} NOT NULL,
    created_steady ${w.int} NOT NULL,
    due_steady ${w.int} NOT NULL,
    ended_at ${w.int},
    CONSTRAINT ended_is_over CHECK ((ended_at IS NOT NULL) = (state <> 'waiting'))
  )${w.table}`,
  `CREATE INDEX notifications_due ON notifications (due_steady, id) WHERE state = 'waiting'`,
  `CREATE INDEX notifications_ended ON notifications (ended_at) WHERE ended_at IS NOT NULL`,
];

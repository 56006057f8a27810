/** Morning reports on their way: one a day, so that however often a server starts, each is sent once. */
import type { Words } from './words.ts';

export const morning = (w: Words): string[] => [
  `CREATE TABLE morning_reports (
    day TEXT NOT NULL PRIMARY KEY,
    report TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'gave_up')),
    attempts ${w.int} NOT NULL,
    last_error TEXT,
    created_at ${w.int} NOT NULL,
    created_steady ${w.int} NOT NULL,
    due_steady ${w.int} NOT NULL
  )${w.table}`,
];

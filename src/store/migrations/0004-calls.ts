/**
 * What calls between agents need besides the rows of the first schema: batches (a fan-out is ordinary executions joined by data),
 * whom an agent may call, and how long an execution has stood still in its calls, for the run clock of its attempt.
 */
import type { Words } from './words.ts';

export const calls = (w: Words): string[] => [
  // Items over the batch's max_concurrency stand behind, as turns of a busy session do: no claim ever looks at them.
  `CREATE TABLE fan_outs (
    id TEXT NOT NULL PRIMARY KEY,
    agent_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    caller_execution_id TEXT,
    max_concurrency ${w.int} NOT NULL CHECK (max_concurrency >= 1),
    tasks ${w.int} NOT NULL CHECK (tasks >= 1),
    created_at ${w.int} NOT NULL
  )${w.table}`,
  `CREATE INDEX fan_outs_created ON fan_outs (created_at, id)`,
  `ALTER TABLE executions ADD COLUMN fan_out_id TEXT`,
  `ALTER TABLE executions ADD COLUMN fan_out_item TEXT`,
  `ALTER TABLE executions ADD COLUMN called_ms ${w.int} NOT NULL DEFAULT 0`,
  `CREATE INDEX executions_fan_out ON executions (fan_out_id, id) WHERE fan_out_id IS NOT NULL`,

  // No row: every agent of the same owner may be called.
  `CREATE TABLE call_permissions (
    agent_id TEXT NOT NULL PRIMARY KEY,
    targets TEXT NOT NULL
  )${w.table}`,
];

/**
 * Money: one row per attempt that cost something, kept longer than executions are; spending budgets; tags of agents, by which
 * costs are told apart. What earlier versions recorded is taken over.
 */
import type { Words } from './words.ts';

export const money = (w: Words): string[] => [
  `CREATE TABLE cost_rows (
    attempt_id TEXT NOT NULL PRIMARY KEY,
    at ${w.int} NOT NULL,
    agent_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    credential_name TEXT,
    model TEXT,
    tags TEXT NOT NULL,
    cost_usd ${w.real},
    cost_kind TEXT NOT NULL CHECK (cost_kind IN ('billed', 'notional', 'unknown')),
    estimated ${w.int} NOT NULL CHECK (estimated IN (0, 1)),
    input_tokens ${w.int} NOT NULL,
    output_tokens ${w.int} NOT NULL
  )${w.table}`,
  `CREATE INDEX cost_rows_at ON cost_rows (at)`,
  `CREATE INDEX cost_rows_agent ON cost_rows (agent_id, at)`,
  `INSERT INTO cost_rows
    SELECT a.id, a.ended_at, e.agent_id, e.agent_name, e.id, c.name, NULL, '[]', a.cost_usd,
      COALESCE(a.cost_kind, 'unknown'), 0, 0, 0
    FROM attempts a JOIN executions e ON e.id = a.execution_id LEFT JOIN credentials c ON c.id = a.credential_id
    WHERE a.cost_usd IS NOT NULL AND a.ended_at IS NOT NULL`,

  // subject: the agent's id, '' for the fleet.
  `CREATE TABLE budgets (
    subject TEXT NOT NULL,
    period TEXT NOT NULL CHECK (period IN ('day', 'month')),
    limit_usd ${w.real} NOT NULL CHECK (limit_usd > 0),
    updated_at ${w.int} NOT NULL,
    updated_by TEXT NOT NULL,
    PRIMARY KEY (subject, period)
  )${w.keyed}`,
  `ALTER TABLE agents ADD COLUMN tags TEXT NOT NULL DEFAULT '[]'`,
];

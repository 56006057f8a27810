/**
 * Weather: each failure that may be one, what is held together as an incident, its probes, and providers that a person paused.
 * Steady ms: `steady opened_steady reopening_steady closed_steady next_at`.
 */
import type { Words } from './words.ts';

export const weather = (w: Words): string[] => [
  // cleared: a run on the provider went well after it. Only rows that are not count towards an incident.
  `CREATE TABLE weather_failures (
    id ${w.eventId},
    at ${w.int} NOT NULL,
    steady ${w.int} NOT NULL,
    provider TEXT NOT NULL,
    family TEXT NOT NULL CHECK (family IN ('overload', 'provider', 'network')),
    cause TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    attempt_id TEXT NOT NULL,
    incident_id TEXT,
    cleared ${w.int} NOT NULL DEFAULT 0 CHECK (cleared IN (0, 1))
  )${w.table}`,
  `CREATE INDEX weather_failures_loose ON weather_failures (provider, steady) WHERE incident_id IS NULL AND cleared = 0`,
  `CREATE INDEX weather_failures_incident ON weather_failures (incident_id, agent_name) WHERE incident_id IS NOT NULL`,

  `CREATE TABLE incidents (
    id TEXT NOT NULL PRIMARY KEY,
    provider TEXT NOT NULL,
    family TEXT NOT NULL CHECK (family IN ('overload', 'provider', 'network')),
    cause TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'reopening', 'closed')),
    evidence TEXT NOT NULL,
    opened_at ${w.int} NOT NULL,
    opened_steady ${w.int} NOT NULL,
    reopening_at ${w.int},
    reopening_steady ${w.int},
    closed_at ${w.int},
    closed_steady ${w.int},
    closed_why TEXT,
    next_at ${w.int} NOT NULL,
    CONSTRAINT closed_is_over CHECK ((closed_at IS NOT NULL) = (state = 'closed'))
  )${w.table}`,
  // One incident of a provider at a time.
  `CREATE UNIQUE INDEX incidents_open ON incidents (provider) WHERE closed_at IS NULL`,
  `CREATE INDEX incidents_provider ON incidents (provider, opened_steady)`,

  `CREATE TABLE incident_probes (
    attempt_id TEXT NOT NULL PRIMARY KEY,
    incident_id TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    at ${w.int} NOT NULL,
    outcome TEXT CHECK (outcome IN ('passed', 'failed', 'silent'))
  )${w.table}`,
  `CREATE INDEX incident_probes_incident ON incident_probes (incident_id)`,

  `CREATE TABLE provider_pauses (
    provider TEXT NOT NULL PRIMARY KEY,
    paused_at ${w.int} NOT NULL,
    paused_by TEXT NOT NULL
  )${w.table}`,

  // Attempts that were parked (a known reset, an incident): they are no tries of a retry policy.
  `ALTER TABLE executions ADD COLUMN parked ${w.int} NOT NULL DEFAULT 0`,
];

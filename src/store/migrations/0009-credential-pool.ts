/**
 * The credential pool at full strength: what is known against a credential by kind of failure, for whom it worked, where agents
 * moved, and how fast the provider lets it go. Events say what they changed.
 */
import type { Words } from './words.ts';

export const credentialPool = (w: Words): string[] => [
  `ALTER TABLE credentials ADD COLUMN owner_id TEXT`,
  `ALTER TABLE credentials ADD COLUMN agent_id TEXT`,
  `ALTER TABLE credentials ADD COLUMN replaced_at ${w.int}`,
  `ALTER TABLE credentials ADD COLUMN state_at ${w.int}`,
  `ALTER TABLE credentials ADD COLUMN worked_at ${w.int}`,
  `ALTER TABLE credentials ADD COLUMN pace ${w.real} CHECK (pace >= 1)`,
  `ALTER TABLE credentials ADD COLUMN pace_at ${w.int}`,
  `ALTER TABLE credentials ADD COLUMN headroom TEXT`,
  // again: how often it was seen again after it had been due. agent_id: on whose run it was seen.
  `CREATE TABLE credential_faults (
    credential_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('login', 'access', 'limit', 'credit', 'seal')),
    state TEXT NOT NULL CHECK (state IN ('limited', 'rejected')),
    until ${w.int},
    at ${w.int} NOT NULL,
    again ${w.int} NOT NULL DEFAULT 0,
    cause TEXT,
    agent_id TEXT,
    evidence TEXT NOT NULL,
    PRIMARY KEY (credential_id, kind)
  )${w.keyed}`,
  // What an older version knew, as one record each.
  `INSERT INTO credential_faults (credential_id, kind, state, until, at, cause, evidence)
    SELECT id, CASE state WHEN 'limited' THEN 'limit' ELSE 'login' END, state, until, coalesce(last_used_at, created_at),
      NULL, coalesce(last_evidence, '')
    FROM credentials WHERE state IN ('limited', 'rejected')`,
  // For whom a run on it went well last: tells a broken agent from a broken login.
  `CREATE TABLE credential_works (
    credential_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    at ${w.int} NOT NULL,
    PRIMARY KEY (credential_id, agent_id)
  )${w.keyed}`,
  `CREATE TABLE credential_switches (
    id ${w.eventId},
    at ${w.int} NOT NULL,
    agent_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    from_id TEXT NOT NULL,
    to_id TEXT NOT NULL,
    cause TEXT NOT NULL
  )${w.table}`,
  `CREATE INDEX credential_switches_agent ON credential_switches (agent_id, from_id, at)`,
  `ALTER TABLE credential_events ADD COLUMN agent_id TEXT`,
  `ALTER TABLE credential_events ADD COLUMN effect TEXT`,
  `CREATE INDEX credential_events_agent ON credential_events (agent_id, at)`,
  `CREATE INDEX credential_events_at ON credential_events (at)`,
];

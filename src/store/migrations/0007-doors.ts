/**
 * Doors for who is not inside yet: invitations of people, and webhooks by which other programs give work. Of both only the hash
 * of the token is kept.
 */
import type { Words } from './words.ts';

export const doors = (w: Words): string[] => [
  `CREATE TABLE invites (
    id TEXT NOT NULL PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL CHECK (role IN ('owner', 'operator', 'viewer')),
    username TEXT,
    email TEXT,
    created_by TEXT NOT NULL,
    created_at ${w.int} NOT NULL,
    expires_at ${w.int} NOT NULL,
    accepted_at ${w.int},
    user_id TEXT,
    CONSTRAINT accepted_has_user CHECK ((accepted_at IS NOT NULL) = (user_id IS NOT NULL))
  )${w.table}`,
  `CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY,
    agent_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    name TEXT NOT NULL,
    message TEXT NOT NULL,
    token_hash TEXT NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    sealed TEXT,
    enabled ${w.int} NOT NULL CHECK (enabled IN (0, 1)),
    max_per_minute ${w.int} NOT NULL CHECK (max_per_minute >= 1),
    timeout_s ${w.int},
    created_by TEXT NOT NULL,
    created_at ${w.int} NOT NULL,
    last_called_at ${w.int}
  )${w.table}`,
  `CREATE UNIQUE INDEX webhooks_agent ON webhooks (agent_id, name)`,
];

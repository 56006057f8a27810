/**
 * Rows that only the server itself speaks of: people and their keys and sign-ins, runners, chat sessions, settings. What crosses
 * to a client or a runner has its shape in contract/.
 */
import type { Role } from '../contract/principal.ts';
import type { RunnerRoom } from '../contract/runner-protocol.ts';

export interface UserRow {
  id: string;
  username: string;
  email: string | null;
  role: Role;
  password_hash: string | null;
  created_at: number;
}

export interface KeyRow {
  id: string;
  name: string;
  description: string | null;
  /** First characters, for people. */
  prefix: string;
  hash: string;
  scope: 'user' | 'agent' | 'runner' | 'owner';
  user_id: string | null;
  agent_id: string | null;
  created_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
}

export interface LoginRow {
  hash: string;
  user_id: string;
  created_at: number;
  expires_at: number;
}

export interface RunnerRow {
  id: string;
  name: string;
  host: string | null;
  boot_id: string | null;
  version: string | null;
  isolation: string | null;
  cgroup: string | null;
  slots: number | null;
  labels: string[];
  room: RunnerRoom | null;
  last_seen: number | null;
  created_at: number;
}

export interface SettingRow {
  key: string;
  value: string;
  updated_at: number;
}

export interface SessionRow {
  id: string;
  agent_id: string;
  cli_session_id: string | null;
  is_main: boolean;
  cost_usd: number;
  /** Cumulative total as the CLI last reported it. */
  cli_cost_total: number | null;
  message_count: number;
  context_used: number | null;
  context_max: number | null;
  created_at: number;
  last_used_at: number;
  cleared_at: number | null;
}

export interface FleetLimits {
  agent_call_limit: number;
  agent_call_limit_source: 'setting' | 'environment' | 'default';
  queue_timeout_s: number;
  queue_timeout_source: 'setting' | 'environment' | 'default';
  paused: boolean;
}

/** What a runner says of its host and itself. */
export interface RunnerAbout {
  host: string;
  boot_id: string;
  version: string;
  isolation: string;
  cgroup: string;
}

/** Bodies of schedules, webhooks and people as the command line reads them (api.md); times are ISO 8601 strings. */
import type { Role } from '../contract/principal.ts';

export interface ScheduleBody {
  id: string;
  agent_name: string;
  name: string;
  cron_expression: string;
  timezone: string;
  message: string;
  enabled: boolean;
  overlap: string;
  catch_up: string;
  jitter_seconds: number;
  next_run_at: string | null;
  last_run_at: string | null;
}

export interface WebhookBody {
  id: string;
  name: string;
  message: string;
  token_prefix: string;
  signed: boolean;
  enabled: boolean;
  last_called_at: string | null;
}

export interface PersonBody {
  username: string;
  email: string | null;
  role: Role;
}

export interface InviteBody {
  id: string;
  role: Role;
  username: string | null;
  status: 'open' | 'accepted' | 'expired';
  expires_at: string;
}

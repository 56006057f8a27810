/** The verbs about people who come and go, and about webhooks: a part of the page of verbs in store.ts, with the same promises. */
import type { Refusal } from '../contract/errors.ts';
import type { Role } from '../contract/principal.ts';
import type { WebhookRow } from '../contract/webhook.ts';
import type { UserRow } from './rows.ts';

export interface InviteRow {
  id: string;
  hash: string;
  role: Role;
  /** The name it is for; null = the invited person chooses. */
  username: string | null;
  email: string | null;
  created_by: string;
  created_at: number;
  expires_at: number;
  accepted_at: number | null;
  user_id: string | null;
}

export interface DoorWrites {
  create_invite: [{ invite: InviteRow }, InviteRow];
  delete_invite: [{ id: string }, { deleted: boolean }];
  /** Once: the person is made in the same transaction. Null = no such invite, or used, or over. */
  accept_invite: [{ hash: string; user: UserRow }, UserRow | Refusal | null];
  /** A new role ends the sign-ins of before: what they allowed is no longer so. */
  change_user: [{ id: string; role?: Role; email?: string | null }, UserRow | null];
  /** With sign-ins and keys; the agents go to `heir`. */
  delete_user: [{ id: string; heir: string }, { deleted: boolean; keys: number; agents: number }];
  create_webhook: [{ webhook: WebhookRow }, WebhookRow | Refusal];
  update_webhook: [
    { id: string; patch: Partial<Pick<WebhookRow, 'name' | 'message' | 'enabled' | 'max_per_minute' | 'timeout_s'>> },
    WebhookRow | Refusal | null,
  ];
  delete_webhook: [{ id: string }, { deleted: boolean }];
  webhook_called: [{ id: string }, { ok: true }];
}

export interface DoorReads {
  invites: [Record<string, never>, InviteRow[]];
  invite_by_hash: [{ hash: string }, InviteRow | null];
  webhooks: [{ agent_id: string }, WebhookRow[]];
  webhook_by_hash: [{ hash: string }, WebhookRow | null];
}

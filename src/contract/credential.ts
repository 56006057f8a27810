/** What an attempt may log in with. The secret is sealed at rest and opened only to lend it for one spawn. */
import { z } from 'zod';

export const credentialKinds = [
  'claude_oauth',
  'anthropic_api_key',
  'openai_api_key',
  'codex_login',
  'gemini_api_key',
  'env',
  'host_login',
] as const;
/** The pool of agents that are lent nothing, whatever is stored: they log in as their CLI does on the host, or not at all. */
export const lendsNothing = 'no-login';

export const CredentialKind = z.enum(credentialKinds);
export type CredentialKind = z.infer<typeof CredentialKind>;

export const CredentialState = z.enum(['ok', 'limited', 'rejected', 'unknown']);
export type CredentialState = z.infer<typeof CredentialState>;

export interface CredentialRow {
  id: string;
  name: string;
  kind: CredentialKind;
  /** base64 of nonce, tag and ciphertext (AES-256-GCM); null for host_login. */
  sealed: string | null;
  max_parallel: number | null;
  pool: string | null;
  state: CredentialState;
  until: number | null;
  last_evidence: string | null;
  last_used_at: number | null;
  created_at: number;
  /** Whose account it is: a plan is lent to agents of the same owner alone (R41). Null = of the installation. */
  owner_id: string | null;
  /** Kind `env`: secrets of this one agent, lent beside its login. */
  agent_id: string | null;
  /** When its secret was replaced: what a run shows that was lent the one before says nothing of it. */
  replaced_at: number | null;
  /** When its state changed last, and when a run on it went well last. */
  state_at: number | null;
  worked_at: number | null;
  /** Runs at once that the provider bears at present: halved when it throttles, creeping up as runs go well; null = no bound. */
  pace: number | null;
  pace_at: number | null;
  headroom: Headroom | null;
}

/** What the provider said last of the windows of a plan. */
export interface Headroom {
  at: number;
  windows: { window: string; utilization: number | null; resets_at: number | null }[];
}

/** Logins that stand for a plan of a person: used with the vendor's own CLI and for its owner's agents only (R41). */
export const planKinds: readonly CredentialKind[] = ['claude_oauth', 'codex_login'];

/** Rows of the settings table that lending obeys; written by routes that check them. */
export const lendingSettings = { autoSwitch: 'auto_switch', spill: 'credential_spill' } as const;
export const isLendingSetting = (key: string): boolean => (Object.values(lendingSettings) as string[]).includes(key);

/** Lent for one spawn: what goes to the CLI, by its environment or its own login file, and nowhere else. */
export const LentCredential = z.object({
  id: z.string(),
  kind: CredentialKind,
  /** Names and secret values for the environment of the child. */
  env: z.record(z.string(), z.string()),
  /** Kind `codex_login`: the content of the CLI's auth.json, which it changes when it refreshes the login. */
  login: z.string().optional(),
});
export type LentCredential = z.infer<typeof LentCredential>;

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
}

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

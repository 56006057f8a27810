/** Opens one credential for one spawn: which environment names carry it to the CLI. Nothing else opens a sealed row. */
import type { CredentialRow, LentCredential } from '../contract/credential.ts';
import type { Sealer } from './seal.ts';

/** `env` kind: `NAME=value` lines, as in a .env file. */
export const parseEnvLines = (text: string): Record<string, string> => {
  const env: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const m = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line);
    if (m) env[m[1]!] = m[2]!.replace(/^(["'])(.*)\1$/, '$2');
  }
  return env;
};

export const lend = (credential: CredentialRow | null, sealer: Sealer): LentCredential | null => {
  if (credential === null) return null;
  const base = { id: credential.id, kind: credential.kind };
  if (credential.sealed === null) return { ...base, env: {} };
  const secret = sealer.open(credential.id, credential.sealed);
  switch (credential.kind) {
    case 'claude_oauth':
      return { ...base, env: { CLAUDE_CODE_OAUTH_TOKEN: secret } };
    case 'anthropic_api_key':
      return { ...base, env: { ANTHROPIC_API_KEY: secret } };
    case 'openai_api_key':
      return { ...base, env: { OPENAI_API_KEY: secret, CODEX_API_KEY: secret } };
    case 'gemini_api_key':
      return { ...base, env: { GEMINI_API_KEY: secret } };
    case 'env':
      return { ...base, env: parseEnvLines(secret) };
    case 'codex_login':
      return { ...base, env: {}, login: secret };
    case 'host_login':
      return { ...base, env: {} };
    default:
      return credential.kind satisfies never;
  }
};

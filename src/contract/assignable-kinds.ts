/** Which kinds of login go with which adapter: apart from their shapes, so that the page reads it without a validator. */
import type { AdapterName } from './agent.ts';
import type { CredentialKind } from './credential.ts';

/** What can be assigned to an agent of an adapter; an `env` goes to any process that Drover starts itself. */
export const assignableKinds: Record<AdapterName, readonly CredentialKind[]> = {
  claude: ['claude_oauth', 'anthropic_api_key', 'host_login', 'env'],
  codex: ['codex_login', 'openai_api_key', 'host_login', 'env'],
  gemini: ['gemini_api_key', 'host_login', 'env'],
  command: ['env'],
  http: [],
};

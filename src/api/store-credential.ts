/**
 * The one way in for secrets: looked at before anything is stored, sealed under the row's id, its state not known until it was used.
 * The words of a refusal name what the secret looks like, never the secret.
 */
import { z } from 'zod';
import { readCodexLogin } from '../contract/codex-login.ts';
import { CredentialKind, type CredentialRow } from '../contract/credential.ts';
import { type Refusal, refuse } from '../contract/errors.ts';
import type { Principal } from '../contract/principal.ts';
import { parseEnvLines } from '../credentials/lend.ts';
import { openedOrNull } from '../credentials/seal.ts';
import { audit } from '../record/audit.ts';
import { commit } from '../record/commit.ts';
import type { ApiDeps } from './route.ts';

export const NewCredential = z.object({
  name: z.string().trim().min(1).max(200),
  kind: CredentialKind.default('claude_oauth'),
  /** The secret; for kind `env` lines of NAME=value; for `codex_login` the whole auth.json; for `host_login` left out. */
  token: z.string().max(100_000).nullish(),
  max_parallel: z.number().int().min(1).max(1_000).nullish(),
  pool: z.string().trim().min(1).max(100).nullish(),
});
type Spec = z.infer<typeof NewCredential>;

/** Keys of the vendors begin so; given as another kind, each would only be rejected at its first run. */
const signs: readonly [RegExp, CredentialKind][] = [
  [/^sk-ant-oat/, 'claude_oauth'],
  [/^sk-ant-api/, 'anthropic_api_key'],
  [/^sk-(?:proj|svcacct|admin)-/, 'openai_api_key'],
  [/^AIza/, 'gemini_api_key'],
  [/^\s*\{/, 'codex_login'],
  [/^[A-Z][A-Z0-9_]*=/, 'env'],
];
const looksLike = (token: string): CredentialKind | null => signs.find(([sign]) => sign.test(token))?.[1] ?? null;

/** How the vendor's own begin. A gateway gives out others, so that one which does not is stored, with a word to whoever stored it. */
const beginnings: Partial<Record<CredentialKind, [RegExp, string]>> = {
  claude_oauth: [/^sk-ant-oat/, 'sk-ant-oat'],
  anthropic_api_key: [/^sk-ant-api/, 'sk-ant-api'],
  openai_api_key: [/^sk-/, 'sk-'],
  gemini_api_key: [/^(?:AIza|AQ\.)/, 'AIza or AQ.'],
};

/** Null: nothing is odd about it. */
export const doubtOf = (kind: CredentialKind, token: string): string | null => {
  const begins = beginnings[kind];
  if (begins === undefined || begins[0].test(token.trim())) return null;
  return `Stored, but it does not begin like one of kind ${kind} from its vendor (${begins[1]}…). Keys of a gateway may look so; if it was a slip, replace it.`;
};

/** After the name of the field it came in. */
const secretProblem = (kind: CredentialKind, token: string | null): string | null => {
  if (kind === 'host_login')
    return token === null ? null : 'a host_login has none: it is the login of the host’s own user';
  if (token === null || token === '') return 'is missing';
  const other = looksLike(token);
  if (other !== null && other !== kind) return `looks like ${other}, not like ${kind}: give it that kind`;
  if (kind === 'env') return Object.keys(parseEnvLines(token)).length > 0 ? null : 'needs lines of NAME=value';
  if (kind === 'codex_login')
    return readCodexLogin(token) === null
      ? 'is not the auth.json of a ChatGPT login (after `codex login`, the whole file ~/.codex/auth.json)'
      : null;
  // One line that goes into a header: anything else is a paste gone wrong.
  return /^[\x21-\x7e]+$/.test(token) ? null : 'holds spaces or other characters that no key has';
};

/** The same secret twice would be two credentials with one limit: it would be walked as two. */
const twin = async (deps: ApiDeps, kind: CredentialKind, token: string, id: string): Promise<CredentialRow | null> => {
  if (kind === 'env') return null;
  const rows = await deps.store.read('credentials', {});
  const same = (c: CredentialRow) => c.sealed !== null && openedOrNull(deps.sealer, c.id, c.sealed) === token;
  return rows.find((c) => c.id !== id && c.kind === kind && same(c)) ?? null;
};

/** `known`: the credential that is changed; what `spec` leaves out of it stays. */
export const storeCredential = async (
  deps: ApiDeps,
  principal: Principal,
  /** `field`: what the secret is called by whoever sent it. */
  spec: Spec & { agent_id?: string; field?: string },
  known: CredentialRow | null = null,
): Promise<CredentialRow | Refusal> => {
  const token = spec.token == null ? null : spec.kind === 'env' ? spec.token : spec.token.trim();
  const keeps = known !== null && spec.token === undefined;
  const problem = keeps ? null : secretProblem(spec.kind, token);
  const field = spec.field ?? 'token';
  if (problem !== null) return refuse('invalid', `${field}: ${problem}.`, { details: [{ field, problem }] });
  const now = deps.kernel.clock.now();
  const id = known?.id ?? deps.kernel.ids.next(now);
  const same = token === null ? null : await twin(deps, spec.kind, token, id);
  if (same !== null)
    return refuse('duplicate', `This secret is stored already, as ${same.name}. One login is one credential.`);
  const stored = await commit(deps, 'put_credential', {
    credential: {
      id,
      name: spec.name,
      kind: spec.kind,
      sealed: keeps ? known.sealed : token === null ? null : deps.sealer.seal(id, token),
      max_parallel: spec.max_parallel ?? null,
      pool: spec.pool ?? null,
      state: 'unknown',
      until: null,
      last_evidence: null,
      last_used_at: known?.last_used_at ?? null,
      created_at: known?.created_at ?? now,
      owner_id: known?.owner_id ?? (principal.kind === 'user' ? principal.id : null),
      agent_id: spec.agent_id ?? known?.agent_id ?? null,
    },
  });
  if ('refused' in stored) return stored;
  await audit(
    deps,
    principal,
    known === null ? 'credential.put' : keeps ? 'credential.change' : 'credential.replace',
    stored.name,
    {
      kind: stored.kind,
    },
  );
  return stored;
};

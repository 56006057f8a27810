/**
 * What agents may log in with. A secret comes in, is sealed before it is stored, and never goes out again: answers show its
 * state and what it is for. Assigned to an agent, or lent from its pool.
 */
import { z } from 'zod';
import { visibleAgent } from '../../admission/visible.ts';
import { readCodexLogin } from '../../contract/codex-login.ts';
import { CredentialKind, type CredentialRow, CredentialState } from '../../contract/credential.ts';
import { type Refusal, refuse } from '../../contract/errors.ts';
import type { Principal } from '../../contract/principal.ts';
import { parseEnvLines } from '../../credentials/lend.ts';
import { openedOrNull } from '../../credentials/seal.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import {
  type ApiDeps,
  IdParams,
  iso,
  isoOrNull,
  MessageBody,
  NameParams,
  orNotFound,
  orRefuse,
  type RouteModule,
  who,
} from '../route.ts';
import { changeAgent } from './agents.ts';

const tags = ['Credentials'];
const NewCredential = z.object({
  name: z.string().trim().min(1).max(200),
  kind: CredentialKind.default('claude_oauth'),
  /** The secret; for kind `env` lines of NAME=value; for `codex_login` the whole auth.json; for `host_login` left out. */
  token: z.string().max(100_000).nullish(),
  max_parallel: z.number().int().min(1).max(1_000).nullish(),
  pool: z.string().trim().min(1).max(100).nullish(),
});
const Credential = z.object({
  id: z.string(),
  name: z.string(),
  kind: CredentialKind,
  state: CredentialState,
  until: z.string().nullable(),
  last_evidence: z.string().nullable(),
  last_used_at: z.string().nullable(),
  max_parallel: z.number().nullable(),
  pool: z.string().nullable(),
  /** Kind `env`: the names it carries, never the values. */
  names: z.array(z.string()).optional(),
  running: z.number(),
  agents: z.array(z.string()),
  created_at: z.string(),
});
const Event = z.object({
  id: z.number(),
  at: z.string(),
  credential_id: z.string(),
  agent_name: z.string(),
  execution_id: z.string(),
  state: z.string(),
  until: z.string().nullable(),
  cause: z.string(),
  evidence: z.string(),
});

/** Anthropic's own two begin so; given as the other kind, each would only be rejected at its first run. */
const kindBySign = (token: string): CredentialRow['kind'] | null =>
  token.startsWith('sk-ant-oat') ? 'claude_oauth' : token.startsWith('sk-ant-api') ? 'anthropic_api_key' : null;

const secretProblem = (kind: CredentialRow['kind'], token: string | null): Refusal | null => {
  const no = (problem: string) => refuse('invalid', `token: ${problem}.`, { details: [{ field: 'token', problem }] });
  if (kind === 'host_login')
    return token === null ? null : no('a host_login has none: it is the login of the host’s own user');
  if (token === null || token === '') return no('is missing');
  if (kind === 'env') return Object.keys(parseEnvLines(token)).length > 0 ? null : no('needs lines of NAME=value');
  if (kind === 'codex_login')
    return readCodexLogin(token) === null
      ? no('is not the auth.json of a ChatGPT login (after `codex login`, the whole file ~/.codex/auth.json)')
      : null;
  // One line that goes into a header: anything else is a paste gone wrong.
  if (!/^[\x21-\x7e]+$/.test(token)) return no('holds spaces or other characters that no key has');
  const other = kindBySign(token);
  return other === null || other === kind ? null : no(`looks like ${other}, not like ${kind}: give it that kind`);
};

/** The one way in for secrets: sealed under the row's id, the state not known until it was used. */
export const storeCredential = async (
  deps: ApiDeps,
  principal: Principal,
  spec: z.infer<typeof NewCredential>,
  id?: string,
): Promise<CredentialRow | Refusal> => {
  const token = spec.token == null ? null : spec.kind === 'env' ? spec.token : spec.token.trim();
  const problem = secretProblem(spec.kind, token);
  if (problem !== null) return problem;
  const now = deps.kernel.clock.now();
  const rowId = id ?? deps.kernel.ids.next(now);
  const stored = await commit(deps, 'put_credential', {
    credential: {
      id: rowId,
      name: spec.name,
      kind: spec.kind,
      sealed: token === null ? null : deps.sealer.seal(rowId, token),
      max_parallel: spec.max_parallel ?? null,
      pool: spec.pool ?? null,
      state: 'unknown',
      until: null,
      last_evidence: null,
      last_used_at: null,
      created_at: now,
      owner_id: principal.kind === 'user' ? principal.id : null,
    },
  });
  if ('refused' in stored) return stored;
  await audit(deps, principal, 'credential.put', stored.name, { kind: stored.kind });
  return stored;
};

export const credentialRoutes: RouteModule = (deps) => async (app) => {
  const present = async (rows: CredentialRow[]): Promise<z.infer<typeof Credential>[]> => {
    const agents = await deps.store.read('agents', {});
    const { credentials } = await deps.store.read('occupancy', { limits: deps.claimLimits() });
    return rows.map((c) => ({
      id: c.id,
      name: c.name,
      kind: c.kind,
      state: c.state,
      until: isoOrNull(c.until),
      last_evidence: c.last_evidence,
      last_used_at: isoOrNull(c.last_used_at),
      max_parallel: c.max_parallel,
      pool: c.pool,
      ...(c.kind === 'env' && c.sealed !== null && { names: namesIn(c.id, c.sealed) }),
      running: credentials.find((u) => u.credential_id === c.id)?.running ?? 0,
      agents: agents.filter((a) => a.credential_id === c.id).map((a) => a.name),
      created_at: iso(c.created_at),
    }));
  };
  const namesIn = (id: string, sealed: string): string[] =>
    Object.keys(parseEnvLines(openedOrNull(deps.sealer, id, sealed) ?? ''));

  app.get(
    '/api/subscriptions',
    { config: { needs: 'view' }, schema: { tags, summary: 'All credentials', response: { 200: z.array(Credential) } } },
    async () => present(await deps.store.read('credentials', {})),
  );

  app.post(
    '/api/subscriptions',
    {
      config: { needs: 'operate' },
      schema: { tags, summary: 'Store a credential', body: NewCredential, response: { 201: Credential } },
    },
    async (request, reply) => {
      const made = orRefuse(await storeCredential(deps, who(request), request.body));
      return reply.code(201).send((await present([made]))[0]!);
    },
  );

  app.delete(
    '/api/subscriptions/:id',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Delete it; running work keeps what it was lent',
        params: IdParams,
        response: { 200: MessageBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const known = orNotFound(
        (await deps.store.read('credentials', {})).find((c) => c.id === id || c.name === id) ?? null,
        'credential',
      );
      await commit(deps, 'delete_credential', { id: known.id });
      await audit(deps, who(request), 'credential.delete', known.name);
      return { message: `Credential ${known.name} is deleted.` };
    },
  );

  app.get(
    '/api/subscriptions/events',
    {
      config: { needs: 'view' },
      schema: {
        tags,
        summary: 'What providers said about credentials, newest first; append only',
        querystring: z.object({ limit: z.coerce.number().int().min(1).max(1_000).default(100) }),
        response: { 200: z.array(Event) },
      },
    },
    async (request) =>
      (await deps.store.read('credential_events', { limit: request.query.limit })).map((e) => ({
        ...e,
        at: iso(e.at),
        until: isoOrNull(e.until),
      })),
  );

  const Assigned = { 200: MessageBody.extend({ agent_name: z.string(), credential: z.string().nullable() }) };
  app.put(
    '/api/subscriptions/agents/:name',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Assign a credential, by id or name; it counts from the next run on',
        params: NameParams,
        body: z.object({
          subscription: z.string().optional(),
          subscription_id: z.string().optional(),
          subscription_name: z.string().optional(),
        }),
        response: Assigned,
      },
    },
    async (request) => {
      const principal = who(request);
      const agent = orNotFound(await visibleAgent(deps.store, request.params.name, principal), 'agent');
      const { subscription, subscription_id, subscription_name } = request.body;
      const wanted = subscription ?? subscription_id ?? subscription_name;
      if (wanted === undefined)
        orRefuse(
          refuse('invalid', 'subscription: name the credential, or give its id.', {
            details: [{ field: 'subscription', problem: 'is missing' }],
          }),
        );
      const credential = orNotFound(
        (await deps.store.read('credentials', {})).find((c) => c.id === wanted || c.name === wanted) ?? null,
        'credential',
      );
      await changeAgent(deps, principal, agent, { credential_id: credential.id });
      return {
        message: `Agent ${agent.name} logs in with ${credential.name}.`,
        agent_name: agent.name,
        credential: credential.name,
      };
    },
  );
  app.delete(
    '/api/subscriptions/agents/:name',
    {
      config: { needs: 'operate' },
      schema: { tags, summary: 'Take it off the agent', params: NameParams, response: Assigned },
    },
    async (request) => {
      const principal = who(request);
      const agent = orNotFound(await visibleAgent(deps.store, request.params.name, principal), 'agent');
      await changeAgent(deps, principal, agent, { credential_id: null });
      return { message: `Agent ${agent.name} has no credential of its own.`, agent_name: agent.name, credential: null };
    },
  );
};

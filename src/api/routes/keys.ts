/**
 * API keys of people and agents: shown once, kept as a hash, revoked at once. A key of a person has that person's rights;
 * a key of an agent has an agent's, never its owner's.
 */
import { z } from 'zod';
import { visibleAgent } from '../../admission/visible.ts';
import { refuse } from '../../contract/errors.ts';
import type { Principal } from '../../contract/principal.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import type { KeyRow } from '../../store/rows.ts';
import { storeNewKey } from '../new-key.ts';
import {
  type ApiDeps,
  IdParams,
  iso,
  isoOrNull,
  MessageBody,
  orNotFound,
  Refused,
  type RouteModule,
  who,
} from '../route.ts';
import { hashToken, keyPrefix } from '../secrets.ts';

const tags = ['Keys'];
const Scope = z.enum(['user', 'agent']);
const NewKey = z.object({
  name: z.string().trim().min(1).max(200),
  description: z.string().max(1_000).nullish(),
  scope: Scope.nullish(),
  /** Scope agent: whose key it is. */
  agent_name: z.string().max(300).nullish(),
});
const Key = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  key_prefix: z.string(),
  scope: z.string(),
  agent_name: z.string().nullable(),
  user_id: z.string().nullable(),
  is_active: z.boolean(),
  created_at: z.string(),
  last_used_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
});
const MadeKey = Key.extend({ key: z.string(), api_key: z.string() });
const Valid = z.object({
  valid: z.literal(true),
  user_id: z.string().nullable(),
  user_email: z.string().nullable(),
  key_name: z.string().nullable(),
  agent_name: z.string().nullable(),
  scope: z.string(),
});

const present = (k: KeyRow, agents: Map<string, string>): z.infer<typeof Key> => ({
  id: k.id,
  name: k.name,
  description: k.description,
  key_prefix: k.prefix,
  scope: k.scope,
  agent_name: k.agent_id === null ? null : (agents.get(k.agent_id) ?? null),
  user_id: k.user_id,
  is_active: k.revoked_at === null,
  created_at: iso(k.created_at),
  last_used_at: isoOrNull(k.last_used_at),
  revoked_at: isoOrNull(k.revoked_at),
});

const agentNames = async (deps: ApiDeps): Promise<Map<string, string>> =>
  new Map((await deps.store.read('agents', {})).map((a) => [a.id, a.name]));

export const keyRoutes: RouteModule = (deps) => async (app) => {
  /** Keys of people and agents; the owner's file and the runners have places of their own. */
  const shown = async (p: Principal): Promise<KeyRow[]> => {
    const all = (await deps.store.read('keys', {})).filter((k) => k.scope === 'user' || k.scope === 'agent');
    return p.kind === 'user' && p.role === 'owner' ? all : all.filter((k) => p.kind === 'user' && k.user_id === p.id);
  };

  const make = async (p: Principal, body: z.infer<typeof NewKey>): Promise<z.infer<typeof MadeKey>> => {
    const agent =
      body.agent_name == null ? null : orNotFound(await visibleAgent(deps.store, body.agent_name, p), 'agent');
    const scope = body.scope ?? (agent === null ? 'user' : 'agent');
    if (scope === 'agent' && agent === null)
      throw new Refused(refuse('invalid', 'agent_name: a key of scope agent needs the name of the agent.'));
    const { row, key } = await storeNewKey(deps, {
      name: body.name,
      description: body.description ?? null,
      scope,
      user_id: p.kind === 'user' ? p.id : null,
      agent_id: scope === 'agent' ? agent!.id : null,
    });
    await audit(deps, p, 'key.create', row.name, { scope, agent: agent?.name ?? null, key_prefix: row.prefix });
    return { ...present(row, await agentNames(deps)), key, api_key: key };
  };

  app.post(
    '/api/mcp/keys',
    {
      config: { needs: 'operate' },
      schema: { tags, summary: 'Make a key; it is shown once', body: NewKey, response: { 201: MadeKey } },
    },
    async (request, reply) => reply.code(201).send(await make(who(request), request.body)),
  );

  app.get(
    '/api/mcp/keys',
    {
      config: { needs: 'view' },
      schema: { tags, summary: 'Your keys; an owner sees all', response: { 200: z.array(Key) } },
    },
    async (request) => {
      const agents = await agentNames(deps);
      return (await shown(who(request))).map((k) => present(k, agents));
    },
  );

  const end = async (p: Principal, id: string, remove: boolean) => {
    const key = orNotFound((await shown(p)).find((k) => k.id === id) ?? null, 'key');
    await commit(deps, 'revoke_key', { id, remove });
    deps.auth.forget();
    await audit(deps, p, remove ? 'key.delete' : 'key.revoke', key.name, { key_prefix: key.prefix });
    return { message: `Key ${key.name} is ${remove ? 'deleted' : 'revoked'}.` };
  };
  const Done = { 200: MessageBody };
  app.post(
    '/api/mcp/keys/:id/revoke',
    { config: { needs: 'view' }, schema: { tags, summary: 'Revoke a key', params: IdParams, response: Done } },
    async (request) => end(who(request), request.params.id, false),
  );
  app.delete(
    '/api/mcp/keys/:id',
    { config: { needs: 'view' }, schema: { tags, summary: 'Delete a key', params: IdParams, response: Done } },
    async (request) => end(who(request), request.params.id, true),
  );

  app.post(
    '/api/mcp/validate',
    {
      config: { needs: 'signed_in' },
      schema: {
        tags,
        summary: 'Whose key is this? The one in the body, else the one the request came with',
        body: z.object({ api_key: z.string().nullish() }),
        response: { 200: Valid },
      },
    },
    async (request) => {
      const given = request.body.api_key ?? null;
      const principal = given === null ? who(request) : ((await deps.auth.principalOf(given))?.principal ?? null);
      if (principal === null) throw new Refused(refuse('unauthorized', 'This key is not known, or was revoked.'));
      const hash = given === null ? request.tokenHash! : hashToken(given);
      const key = given?.startsWith(keyPrefix) !== false ? await deps.store.read('key_by_hash', { hash }) : null;
      const user = principal.kind === 'user' ? await deps.store.read('user', { id: principal.id }) : null;
      return {
        valid: true as const,
        user_id: user?.id ?? key?.user_id ?? null,
        user_email: user?.email ?? null,
        key_name: key?.name ?? null,
        agent_name: principal.kind === 'agent' || principal.kind === 'execution' ? principal.name : null,
        scope: key?.scope ?? (principal.kind === 'user' ? 'session' : principal.kind),
      };
    },
  );

  app.post(
    '/api/mcp/keys/ensure-default',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'A key named default, made when you have none that works',
        response: {
          200: Key.extend({ created: z.boolean(), key: z.string().nullable(), api_key: z.string().nullable() }),
        },
      },
    },
    async (request) => {
      const p = who(request);
      const own = await deps.store.read('keys', {});
      const live = own.find(
        (k) => k.scope === 'user' && p.kind === 'user' && k.user_id === p.id && k.revoked_at === null,
      );
      if (live !== undefined) return { ...present(live, new Map()), created: false, key: null, api_key: null };
      return { ...(await make(p, { name: 'default', description: 'Made by ensure-default' })), created: true };
    },
  );
};

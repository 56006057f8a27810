/**
 * Named secrets besides a login (a token for a service that tools use): of one agent, in the environment of its runs from the next
 * one on; or kept under a name, to be assigned. Answers hold names, never values. A login does not come this way: it has a pool.
 */
import { z } from 'zod';
import { visibleAgent } from '../../admission/visible.ts';
import { type AgentRow, credentialEnvNames } from '../../contract/agent.ts';
import type { CredentialRow } from '../../contract/credential.ts';
import { errors, type Refusal, refuse } from '../../contract/errors.ts';
import { parseEnvLines } from '../../credentials/lend.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import { namesIn } from '../present/credential.ts';
import {
  type ApiDeps,
  IdParams,
  iso,
  MessageBody,
  NameParams,
  orNotFound,
  orRefuse,
  type RouteModule,
  who,
} from '../route.ts';
import { storeCredential } from '../store-credential.ts';

const tags = ['Credentials'];
const Values = z.record(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'a name of letters, digits and _'),
  z.string().max(32_768),
);
const Text = z.string().max(100_000);
/** `.env` text under any of the names that clients use, or named values. */
const Given = z.object({ credentials_text: Text.optional(), content: Text.optional(), credentials: Values.optional() });
const NewSecrets = Given.extend({ name: z.string().trim().min(1).max(200), agent_name: z.string().optional() });
const Stored = z.object({
  id: z.string(),
  name: z.string(),
  names: z.array(z.string()),
  agent_name: z.string().nullable(),
  created_at: z.string(),
});
const Reloaded = MessageBody.extend({
  success: z.boolean(),
  agent_name: z.string(),
  credential_count: z.number(),
  credentials: z.array(z.string()),
});

const valuesOf = (given: z.infer<typeof Given>): Record<string, string> | Refusal => {
  const values = { ...parseEnvLines(given.credentials_text ?? given.content ?? ''), ...given.credentials };
  const names = Object.keys(values);
  const field = (problem: string) =>
    refuse('invalid', `credentials: ${problem}.`, { details: [{ field: 'credentials', problem }] });
  if (names.length === 0) return field('holds no line of NAME=value');
  if (Object.values(values).some((v) => /[\0\r\n]/.test(v))) return field('a value holds a line end or a NUL byte');
  const logins = names.filter((n) => (credentialEnvNames as readonly string[]).includes(n));
  return logins.length === 0
    ? values
    : refuse(
        'credential_in_env',
        `${logins.join(', ')}: a login is not a secret of an agent. ${errors.credential_in_env.hint}`,
      );
};

export const agentSecretRoutes: RouteModule = (deps) => async (app) => {
  const all = async () => (await deps.store.read('credentials', {})).filter((c) => c.kind === 'env');
  const present = async (rows: CredentialRow[]) => {
    const agents = await deps.store.read('agents', {});
    return rows.map((c) => ({
      id: c.id,
      name: c.name,
      names: namesIn(deps, c),
      agent_name: agents.find((a) => a.id === c.agent_id)?.name ?? null,
      created_at: iso(c.created_at),
    }));
  };
  const put = async (
    principal: ReturnType<typeof who>,
    name: string,
    values: Record<string, string>,
    agent: AgentRow | null,
  ): Promise<CredentialRow> => {
    const known = (await all()).find((c) => c.name === name && c.agent_id === (agent?.id ?? null)) ?? null;
    const token = Object.entries(values)
      .map(([n, v]) => `${n}=${v}`)
      .join('\n');
    const spec = { name, kind: 'env' as const, token, ...(agent && { agent_id: agent.id }) };
    return orRefuse(await storeCredential(deps, principal, spec, known));
  };
  const agentOf = async (name: string, principal: ReturnType<typeof who>) =>
    orNotFound(await visibleAgent(deps.store, name, principal), 'agent');

  app.get(
    '/api/credentials',
    {
      config: { needs: 'view' },
      schema: { tags, summary: 'Named secrets, by their names', response: { 200: z.array(Stored) } },
    },
    async () => present(await all()),
  );
  const create = async (request: {
    principal: Parameters<typeof who>[0]['principal'];
    body: z.infer<typeof NewSecrets>;
  }) => {
    const principal = who(request);
    const { name, agent_name } = request.body;
    const agent = agent_name === undefined ? null : await agentOf(agent_name, principal);
    const values = orRefuse(valuesOf(request.body));
    return (await present([await put(principal, name, values, agent)]))[0]!;
  };
  app.post(
    '/api/credentials',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Store named secrets; with an agent they go to its runs',
        body: NewSecrets,
        response: { 201: Stored },
      },
    },
    async (request, reply) => reply.code(201).send(await create(request)),
  );
  app.post(
    '/api/credentials/bulk',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Store the lines of a .env text, all or none',
        body: NewSecrets.extend({ name: z.string().trim().min(1).max(200).default('bulk') }),
        response: { 200: z.object({ created: z.number(), credentials: z.array(z.string()), stored: Stored }) },
      },
    },
    async (request) => {
      const stored = await create(request);
      return { created: stored.names.length, credentials: stored.names, stored };
    },
  );
  app.delete(
    '/api/credentials/:id',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Forget them; what runs keeps what it was lent',
        params: IdParams,
        response: { 200: MessageBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const known = orNotFound((await all()).find((c) => c.id === id || c.name === id) ?? null, 'credential');
      await commit(deps, 'delete_credential', { id: known.id });
      await audit(deps, who(request), 'credential.delete', known.name);
      return { message: `${known.name} is deleted.` };
    },
  );

  app.post(
    '/api/agents/:name/credentials/hot-reload',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Replace the secrets of an agent; its next run has them, what runs keeps what it was lent',
        params: NameParams,
        body: Given,
        response: { 200: Reloaded },
      },
    },
    async (request) => {
      const principal = who(request);
      const agent = await agentOf(request.params.name, principal);
      const values = orRefuse(valuesOf(request.body));
      await put(principal, `secrets of ${agent.name} ${agent.id.slice(-6)}`, values, agent);
      const credentials = Object.keys(values).sort();
      return {
        success: true,
        message: `The next run of ${agent.name} has ${credentials.join(', ')}.`,
        agent_name: agent.name,
        credential_count: credentials.length,
        credentials,
      };
    },
  );
  app.get(
    '/api/agents/:name/credentials/status',
    {
      config: { needs: 'view' },
      schema: {
        tags,
        summary: 'What its runs may log in with, and the names of its secrets',
        params: NameParams,
        response: {
          200: z.object({
            agent_name: z.string(),
            pool: z.string().nullable(),
            options: z.array(
              z.object({
                id: z.string(),
                name: z.string(),
                kind: z.string(),
                state: z.string(),
                until: z.string().nullable(),
                usable: z.boolean(),
                full: z.boolean(),
              }),
            ),
            secrets: z.array(z.string()),
          }),
        },
      },
    },
    async (request) => {
      const agent = await agentOf(request.params.name, who(request));
      const found = await deps.store.read('login_options', { agent_id: agent.id, limits: deps.claimLimits() });
      const own = (await all()).filter((c) => c.agent_id === agent.id);
      return {
        agent_name: agent.name,
        pool: found.pool,
        options: found.options.map((o) => ({ ...o, until: o.until === null ? null : iso(o.until) })),
        secrets: own.flatMap((c) => namesIn(deps as ApiDeps, c)).sort(),
      };
    },
  );
};

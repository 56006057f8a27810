/**
 * What agents may log in with. A secret comes in, is sealed before it is stored, and never goes out again: answers show its
 * state and what it is for. Assigned to an agent, or lent from its pool.
 */
import { z } from 'zod';
import { visibleAgent } from '../../admission/visible.ts';
import type { AgentRow } from '../../contract/agent.ts';
import { assignableKinds } from '../../contract/assignable-kinds.ts';
import type { CredentialRow } from '../../contract/credential.ts';
import { type Refusal, refuse } from '../../contract/errors.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import { CredentialBody, presentCredentials } from '../present/credential.ts';
import {
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
import { doubtOf, NewCredential, storeCredential } from '../store-credential.ts';
import { changeAgent } from './agents.ts';

const tags = ['Credentials'];
const Change = NewCredential.omit({ kind: true }).partial();
/** `warning`: it is stored, and a person should look at it again. */
const Stored = CredentialBody.extend({ warning: z.string().optional() });
const Limit = z.object({ limit: z.coerce.number().int().min(1).max(1_000).default(100) });
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
  /** `state`: it changed what is known; else why it did not. */
  effect: z.string().nullable(),
});
const Switch = z.object({
  id: z.number(),
  at: z.string(),
  agent_name: z.string(),
  execution_id: z.string(),
  from_id: z.string(),
  to_id: z.string(),
  cause: z.string(),
});
const Usage = z.object({
  credential_id: z.string(),
  name: z.string(),
  since: z.string(),
  running: z.number(),
  headroom: CredentialBody.shape.headroom,
  agents: z.array(
    z.object({
      agent_name: z.string(),
      attempts: z.number(),
      succeeded: z.number(),
      failed: z.number(),
      cost_usd: z.number().nullable(),
    }),
  ),
  /** By kind of failure, what is known against it now. */
  faults: z.array(
    z.object({
      kind: z.string(),
      state: z.string(),
      until: z.string().nullable(),
      at: z.string(),
      cause: z.string().nullable(),
      evidence: z.string(),
    }),
  ),
});

const kindProblem = (agent: AgentRow, c: CredentialRow): Refusal | null => {
  const fits = assignableKinds[agent.adapter];
  if (fits.includes(c.kind)) return null;
  const can = fits.join(', ') || 'nothing';
  const problem = `${c.name} is of kind ${c.kind}; an agent of adapter ${agent.adapter} can use ${can}`;
  return refuse('invalid', `subscription: ${problem}.`, { details: [{ field: 'subscription', problem }] });
};

export const credentialRoutes: RouteModule = (deps) => async (app) => {
  const byIdOrName = async (wanted: string): Promise<CredentialRow> =>
    orNotFound(
      (await deps.store.read('credentials', {})).find((c) => c.id === wanted || c.name === wanted) ?? null,
      'credential',
    );
  const presentOne = async (row: CredentialRow) => (await presentCredentials(deps, [row]))[0]!;
  const presentStored = async (row: CredentialRow, token: string | null | undefined) => {
    const warning = token == null ? null : doubtOf(row.kind, token);
    return { ...(await presentOne(row)), ...(warning !== null && { warning }) };
  };

  app.get(
    '/api/subscriptions',
    {
      config: { needs: 'view' },
      schema: { tags, summary: 'All credentials', response: { 200: z.array(CredentialBody) } },
    },
    async () => presentCredentials(deps, await deps.store.read('credentials', {})),
  );

  app.post(
    '/api/subscriptions',
    {
      config: { needs: 'operate' },
      schema: { tags, summary: 'Store a credential', body: NewCredential, response: { 201: Stored } },
    },
    async (request, reply) => {
      const made = orRefuse(await storeCredential(deps, who(request), request.body));
      return reply.code(201).send(await presentStored(made, request.body.token));
    },
  );

  app.put(
    '/api/subscriptions/:id',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Give it a new secret, name, pool or cap; fields left out stay. A new secret begins a new record',
        params: IdParams,
        body: Change,
        response: { 200: Stored },
      },
    },
    async (request) => {
      const known = await byIdOrName(request.params.id);
      const { name = known.name, max_parallel = known.max_parallel, pool = known.pool, token } = request.body;
      const spec = { kind: known.kind, name, max_parallel, pool, token };
      return presentStored(orRefuse(await storeCredential(deps, who(request), spec, known)), token);
    },
  );

  app.get(
    '/api/subscriptions/:id/usage',
    {
      config: { needs: 'view' },
      schema: {
        tags,
        summary: 'Who used it and how that went, the windows of its plan, and what is known against it',
        params: IdParams,
        querystring: z.object({
          hours: z.coerce
            .number()
            .int()
            .min(1)
            .max(24 * 90)
            .default(24 * 7),
        }),
        response: { 200: Usage },
      },
    },
    async (request) => {
      const known = await byIdOrName(request.params.id);
      const since = deps.kernel.clock.now() - request.query.hours * 3_600_000;
      const { running, headroom } = await presentOne(known);
      const faults = await deps.store.read('credential_faults', { credential_id: known.id });
      return {
        credential_id: known.id,
        name: known.name,
        since: iso(since),
        running,
        headroom,
        agents: await deps.store.read('credential_usage', { credential_id: known.id, since }),
        faults: faults.map((f) => ({ ...f, until: isoOrNull(f.until), at: iso(f.at) })),
      };
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
      const known = await byIdOrName(id);
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
        querystring: Limit,
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

  app.get(
    '/api/subscriptions/switches',
    {
      config: { needs: 'view' },
      schema: {
        tags,
        summary: 'Where agents moved from one credential to another, newest first; append only',
        querystring: Limit,
        response: { 200: z.array(Switch) },
      },
    },
    async (request) =>
      (await deps.store.read('credential_switches', { limit: request.query.limit })).map((s) => ({
        ...s,
        at: iso(s.at),
      })),
  );

  const Named = z.object({
    subscription: z.string().optional(),
    subscription_id: z.string().optional(),
    subscription_name: z.string().optional(),
  });
  const Assigned = {
    200: MessageBody.extend({
      success: z.literal(true),
      agent_name: z.string(),
      credential: z.string().nullable(),
      subscription_name: z.string().nullable(),
    }),
  };
  app.put(
    '/api/subscriptions/agents/:name',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Assign a credential, by id or name; it counts from the next run on',
        params: NameParams,
        // Older clients name it in the query.
        querystring: Named,
        body: Named,
        response: Assigned,
      },
    },
    async (request) => {
      const principal = who(request);
      const agent = orNotFound(await visibleAgent(deps.store, request.params.name, principal), 'agent');
      const { subscription, subscription_id, subscription_name } = { ...request.query, ...request.body };
      const wanted = subscription ?? subscription_id ?? subscription_name;
      if (wanted === undefined)
        return orRefuse(
          refuse('invalid', 'subscription: name the credential, or give its id.', {
            details: [{ field: 'subscription', problem: 'is missing' }],
          }),
        );
      const credential = await byIdOrName(wanted);
      const wrong = kindProblem(agent, credential);
      if (wrong !== null) orRefuse(wrong);
      await changeAgent(deps, principal, agent, { credential_id: credential.id });
      return {
        success: true as const,
        message: `Agent ${agent.name} logs in with ${credential.name}.`,
        agent_name: agent.name,
        credential: credential.name,
        subscription_name: credential.name,
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
      return {
        success: true as const,
        message: `Agent ${agent.name} has no credential of its own.`,
        agent_name: agent.name,
        credential: null,
        subscription_name: null,
      };
    },
  );
};

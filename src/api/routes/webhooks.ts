/** Webhooks of an agent, as people make and change them. The token and the secret are shown or taken once and never given back. */
import { z } from 'zod';
import { refuse } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { principalScope } from '../../contract/principal.ts';
import { cleanText } from '../../contract/text.ts';
import { type WebhookRow, webhookLimits } from '../../contract/webhook.ts';
import { secretToken } from '../../kernel/ids.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import {
  findAgent,
  iso,
  isoOrNull,
  MessageBody,
  NameParams,
  orNotFound,
  orRefuse,
  Refused,
  type RouteModule,
  who,
} from '../route.ts';
import { hashToken } from '../secrets.ts';

const tags = ['Webhooks'];
const tokenPrefix = 'drw_';
const OneParams = NameParams.extend({ id: z.string().max(300) });

const Fields = z.object({
  name: z.string().trim().min(1).max(webhookLimits.nameChars),
  /** What the agent is told; what the call brings follows it, marked as coming from outside. */
  message: z.string().refine((m) => m.trim() !== '', 'is empty; say what the agent is to do when it is called'),
  secret: z
    .string()
    .min(webhookLimits.secretChars, 'needs at least 16 characters (openssl rand -hex 32)')
    .max(1_000)
    .nullish(),
  enabled: z.boolean().default(true),
  max_per_minute: z.number().int().min(1).max(webhookLimits.perMinute.max).default(webhookLimits.perMinute.default),
  timeout_seconds: z.number().int().min(limits.timeoutS.min).max(limits.timeoutS.max).nullish(),
});
const Change = z.object({
  name: Fields.shape.name.optional(),
  message: Fields.shape.message.optional(),
  enabled: z.boolean().optional(),
  max_per_minute: z.number().int().min(1).max(webhookLimits.perMinute.max).optional(),
  timeout_seconds: Fields.shape.timeout_seconds,
});
const Body = z.object({
  id: z.string(),
  agent_name: z.string(),
  name: z.string(),
  message: z.string(),
  token_prefix: z.string(),
  signed: z.boolean(),
  enabled: z.boolean(),
  max_per_minute: z.number(),
  timeout_seconds: z.number().nullable(),
  created_by: z.string(),
  created_at: z.string(),
  last_called_at: z.string().nullable(),
});

const present = (w: WebhookRow): z.infer<typeof Body> => ({
  id: w.id,
  agent_name: w.agent_name,
  name: w.name,
  message: w.message,
  token_prefix: w.prefix,
  signed: w.sealed !== null,
  enabled: w.enabled,
  max_per_minute: w.max_per_minute,
  timeout_seconds: w.timeout_s,
  created_by: w.created_by,
  created_at: iso(w.created_at),
  last_called_at: isoOrNull(w.last_called_at),
});

/** Its message and what a call may bring have to fit together. */
const checkMessage = (message: string): string => {
  const most = limits.messageBytes - webhookLimits.bodyBytes;
  if (Buffer.byteLength(message) > most)
    throw new Refused(refuse('too_large', `message may have at most ${most} bytes: what a call brings follows it.`));
  return cleanText(message);
};

export const webhookRoutes: RouteModule = (deps) => async (app) => {
  const find = async (request: Parameters<typeof findAgent>[1] & { params: { name: string; id: string } }) => {
    const agent = await findAgent(deps, request);
    const all = await deps.store.read('webhooks', { agent_id: agent.id });
    return { agent, webhook: orNotFound(all.find((w) => w.id === request.params.id) ?? null, 'webhook') };
  };

  app.get(
    '/api/agents/:name/webhooks',
    {
      config: { needs: 'view' },
      schema: { tags, summary: 'The webhooks of an agent', params: NameParams, response: { 200: z.array(Body) } },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      return (await deps.store.read('webhooks', { agent_id: agent.id })).map(present);
    },
  );

  app.post(
    '/api/agents/:name/webhooks',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Make a webhook; its token is in its path, and shown once. With a secret every call must be signed',
        params: NameParams,
        body: Fields,
        response: { 201: Body.extend({ token: z.string(), path: z.string() }) },
      },
    },
    async (request, reply) => {
      const agent = await findAgent(deps, request);
      const principal = who(request);
      const { name, message, secret, enabled, max_per_minute, timeout_seconds } = request.body;
      const token = tokenPrefix + secretToken(deps.kernel.random);
      const now = deps.kernel.clock.now();
      const id = deps.kernel.ids.next(now);
      const webhook = orRefuse(
        await commit(deps, 'create_webhook', {
          webhook: {
            id,
            agent_id: agent.id,
            agent_name: agent.name,
            name,
            message: checkMessage(message),
            token_hash: hashToken(token),
            prefix: token.slice(0, tokenPrefix.length + 6),
            sealed: secret == null ? null : deps.sealer.seal(`webhook:${id}`, secret),
            enabled,
            max_per_minute,
            timeout_s: timeout_seconds ?? null,
            created_by: principalScope(principal),
            created_at: now,
            last_called_at: null,
          },
        }),
      );
      await audit(deps, principal, 'webhook.create', `${agent.name}/${name}`, { signed: secret != null });
      return reply.code(201).send({ ...present(webhook), token, path: `/api/webhooks/${token}` });
    },
  );

  app.put(
    '/api/agents/:name/webhooks/:id',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Change a webhook; fields left out stay. For another token or secret make a new one',
        params: OneParams,
        body: Change,
        response: { 200: Body },
      },
    },
    async (request) => {
      const { agent, webhook } = await find(request);
      const { name, message, enabled, max_per_minute, timeout_seconds } = request.body;
      const changed = await commit(deps, 'update_webhook', {
        id: webhook.id,
        patch: {
          ...(name !== undefined && { name }),
          ...(message !== undefined && { message: checkMessage(message) }),
          ...(enabled !== undefined && { enabled }),
          ...(max_per_minute !== undefined && { max_per_minute }),
          ...(timeout_seconds !== undefined && { timeout_s: timeout_seconds }),
        },
      });
      const row = orNotFound(orRefuse(changed), 'webhook');
      await audit(deps, who(request), 'webhook.change', `${agent.name}/${row.name}`, {
        fields: Object.keys(request.body),
      });
      return present(row);
    },
  );

  app.delete(
    '/api/agents/:name/webhooks/:id',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Delete a webhook: its address is dead at once',
        params: OneParams,
        response: { 200: MessageBody },
      },
    },
    async (request) => {
      const { agent, webhook } = await find(request);
      await commit(deps, 'delete_webhook', { id: webhook.id });
      await audit(deps, who(request), 'webhook.delete', `${agent.name}/${webhook.name}`);
      return { message: `Webhook ${webhook.name} is deleted.` };
    },
  );
};

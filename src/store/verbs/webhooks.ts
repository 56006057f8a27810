/** Webhooks of an agent: they go with it, and one made again under its name has none (drill 36). */
import type { Selectable } from 'kysely';
import { refuse } from '../../contract/errors.ts';
import { type WebhookRow, webhookLimits } from '../../contract/webhook.ts';
import type { Webhooks } from '../schema.ts';
import type { ReadVerb, Tx, WriteVerb } from '../tx.ts';

const from = (r: Selectable<Webhooks>): WebhookRow => ({ ...r, enabled: r.enabled === 1 });

const duplicate = (name: string) => refuse('duplicate', `name: the agent has a webhook named "${name}" already.`);
const taken = async (tx: Tx, agent_id: string, name: string, id: string): Promise<boolean> =>
  (await tx.db
    .selectFrom('webhooks')
    .select('id')
    .where('agent_id', '=', agent_id)
    .where('name', '=', name)
    .where('id', '!=', id)
    .executeTakeFirst()) !== undefined;

export const createWebhook: WriteVerb<'create_webhook'> = async (tx, { webhook }) => {
  const agent = tx.db
    .selectFrom('agents')
    .select('id')
    .where('id', '=', webhook.agent_id)
    .where('deleted_at', 'is', null);
  if (!(await agent.executeTakeFirst())) return refuse('not_found', `No agent ${webhook.agent_name}.`);
  if (await taken(tx, webhook.agent_id, webhook.name, webhook.id)) return duplicate(webhook.name);
  const of = await tx.db.selectFrom('webhooks').select('id').where('agent_id', '=', webhook.agent_id).execute();
  if (of.length >= webhookLimits.perAgent)
    return refuse('conflict', `An agent has at most ${webhookLimits.perAgent} webhooks; delete one first.`);
  await tx.db
    .insertInto('webhooks')
    .values({ ...webhook, enabled: webhook.enabled ? 1 : 0 })
    .execute();
  return webhook;
};

export const updateWebhook: WriteVerb<'update_webhook'> = async (tx, { id, patch }) => {
  const found = tx.db.selectFrom('webhooks').selectAll().where('id', '=', id);
  const before = await found.executeTakeFirst();
  if (!before) return null;
  if (patch.name !== undefined && (await taken(tx, before.agent_id, patch.name, id))) return duplicate(patch.name);
  const { enabled, ...rest } = patch;
  const set = { ...rest, ...(enabled !== undefined && { enabled: enabled ? (1 as const) : (0 as const) }) };
  if (Object.keys(set).length > 0) await tx.db.updateTable('webhooks').set(set).where('id', '=', id).execute();
  return from(await found.executeTakeFirstOrThrow());
};

export const deleteWebhook: WriteVerb<'delete_webhook'> = async (tx, { id }) => {
  const done = await tx.db.deleteFrom('webhooks').where('id', '=', id).executeTakeFirstOrThrow();
  return { deleted: Number(done.numDeletedRows) > 0 };
};

export const webhookCalled: WriteVerb<'webhook_called'> = async (tx, { id }) => {
  await tx.db.updateTable('webhooks').set({ last_called_at: tx.at.now }).where('id', '=', id).execute();
  return { ok: true };
};

export const webhooks: ReadVerb<'webhooks'> = async (tx, { agent_id }) =>
  (await tx.db.selectFrom('webhooks').selectAll().where('agent_id', '=', agent_id).orderBy('name').execute()).map(from);

export const webhookByHash: ReadVerb<'webhook_by_hash'> = async (tx, { hash }) => {
  const row = await tx.db.selectFrom('webhooks').selectAll().where('token_hash', '=', hash).executeTakeFirst();
  return row === undefined ? null : from(row);
};

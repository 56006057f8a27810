/**
 * Raises an operator item: edge-triggered, one live per subject and key (R42). What goes on only counts up. Told again is what
 * got worse, and what still goes on an hour after a person said "seen". Beyond the bound of open items, one more item counts
 * what is not listed.
 */
import { itemLimits, type NewOperatorItem, type OperatorItemRow, severityOf } from '../../contract/operator.ts';
import type { Tx, WriteVerb } from '../tx.ts';
import { notice } from './notice.ts';
import { changeItem, type Item, itemById, liveItems, operatorItemFrom, tellItem } from './operator-row.ts';

interface About {
  agent_name: string | null;
  execution_id: string | null;
}

/** The key of the item that counts the others. */
const overflowKey = 'not_listed';
/** Titles it remembers. */
const overflowTitles = 10;

/** `more`: columns that a question has besides. */
export const raise = async (tx: Tx, item: NewOperatorItem, about: About, more: Partial<Item> = {}): Promise<Item> => {
  const subject = item.fleet ? '' : (about.agent_name ?? '');
  const live = await liveItems(tx, subject);
  const same = live.find((l) => l.dedup_key === item.dedup_key);
  if (same) return again(tx, same, item, about, more);
  const listed = live.filter((l) => l.status === 'open' && l.dedup_key !== overflowKey);
  if (listed.length < itemLimits.openPerAgent - 1) return insert(tx, item, about, subject, more);
  const before = live.find((l) => l.dedup_key === overflowKey);
  const summary = overflow(item, about, before);
  return before ? again(tx, before, summary, about) : insert(tx, summary, about, subject);
};

const worse = (a: NewOperatorItem['priority'], b: NewOperatorItem['priority']) =>
  severityOf(a) > severityOf(b) ? a : b;

const overflow = (item: NewOperatorItem, about: About, before: Item | undefined): NewOperatorItem => {
  const titles = before ? (JSON.parse(before.evidence) as string[]).slice(1) : [];
  const count = (before?.count ?? 0) + 1;
  return {
    id: item.id,
    kind: 'alert',
    dedup_key: overflowKey,
    priority: before ? worse(before.priority, item.priority) : item.priority,
    title: `${about.agent_name ?? 'The fleet'}: ${count} more ${count === 1 ? 'alert' : 'alerts'}, not listed`,
    evidence: [
      `${itemLimits.openPerAgent - 1} are open. Acknowledge or answer some, and new ones are listed again.`,
      ...[...titles.filter((t) => t !== item.title), item.title].slice(-overflowTitles),
    ],
    quiet_ms: itemLimits.eventQuietMs,
  };
};

/** The newest ten, each once. */
const joined = (before: Item, item: NewOperatorItem): string[] =>
  [...new Set([...(JSON.parse(before.evidence) as string[]), ...item.evidence])].slice(-10);

const insert = async (
  tx: Tx,
  item: NewOperatorItem,
  about: About,
  subject: string,
  more: Partial<Item> = {},
): Promise<Item> => {
  const { now } = tx.at;
  await tx.db
    .insertInto('operator_items')
    .values({
      id: item.id,
      kind: item.kind,
      subject,
      dedup_key: item.dedup_key,
      agent_name: item.fleet ? null : about.agent_name,
      execution_id: about.execution_id,
      priority: item.priority,
      title: item.title,
      evidence: JSON.stringify(item.evidence),
      status: 'open',
      created_at: now,
      updated_at: now,
      last_at: now,
      quiet_ms: item.quiet_ms ?? null,
      ...more,
    })
    .execute();
  const row = (await itemById(tx, item.id))!;
  await tellItem(tx, 'operator.opened', row);
  await notice(tx, row, 'opened');
  return row;
};

const again = async (
  tx: Tx,
  before: Item,
  item: NewOperatorItem,
  about: About,
  more: Partial<Item> = {},
): Promise<Item> => {
  const { now } = tx.at;
  const priority = worse(before.priority, item.priority);
  const escalates = priority !== before.priority;
  const seenLongAgo = now - (before.acknowledged_at ?? now) >= itemLimits.reopenMs;
  // Whoever asks again waits for a person again.
  const reopens = before.status === 'acknowledged' && (escalates || seenLongAgo || item.kind !== 'alert');
  const row = await changeItem(tx, before, {
    count: before.count + 1,
    title: item.title,
    evidence: JSON.stringify(item.joins ? joined(before, item) : item.evidence),
    execution_id: about.execution_id,
    priority,
    last_at: now,
    quiet_ms: item.quiet_ms ?? null,
    ...more,
    ...(reopens && { status: 'open' as const, acknowledged_at: null }),
  });
  const edge = reopens ? 'reopened' : escalates ? 'escalated' : null;
  await tellItem(tx, 'operator.changed', row, edge === null ? {} : { edge });
  if (edge !== null) await notice(tx, row, edge);
  return row;
};

export const putOperatorItem: WriteVerb<'put_operator_item'> = async (
  tx,
  { item, agent_name, execution_id },
): Promise<OperatorItemRow> => operatorItemFrom(await raise(tx, item, { agent_name, execution_id }));

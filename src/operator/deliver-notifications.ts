/**
 * Sends what waits to be sent, beside everything else: nothing ever waits for a receiver. Failures are tried again at growing
 * distances, spread by a hash of the id, until a day has passed; all of it stands in the store and survives a restart.
 */
import { type NotificationRow, unreachedKey } from '../contract/operator.ts';
import type { Deps } from '../flow/deps.ts';
import { hashedBackoff } from '../kernel/backoff.ts';
import { commit } from '../record/commit.ts';
import { openTarget } from './notify-target.ts';
import { type Address, postNotification } from './post-notification.ts';

const atOnce = 8;
/** Longer than a try can take: a sender that died gives its rows back after it. */
const holdMs = 60_000;
const firstRetryMs = 5_000;
const longestRetryMs = 3_600_000;
const giveUpMs = 24 * 3_600_000;
/** What is due is known; only what another server left when it died is found by looking. */
const lookAgainMs = 300_000;

/** One turn; gives the ms until the next. */
export const deliverNotifications = async (deps: Deps): Promise<number> => {
  const { taken, next_due } = await commit(deps, 'take_notifications', { max: atOnce, hold_ms: holdMs });
  if (taken.length === 0)
    return next_due === null ? lookAgainMs : Math.min(lookAgainMs, Math.max(1, next_due - deps.kernel.clock.steady()));
  const target = await deps.store.read('notify_target', {});
  // Switched off in this moment: the rows are given up already.
  if (target === null) return 0;
  const address = openTarget(deps.sealer, target);
  await Promise.all(taken.map((row) => send(deps, address, row)));
  return 0;
};

const send = async (deps: Deps, address: Address, row: NotificationRow): Promise<void> => {
  const { clock, log } = deps.kernel;
  const posted = await postNotification(clock, address, {
    id: String(row.id),
    event: `operator.${row.edge}`,
    at: row.created_at,
    item: row.item,
  });
  if (posted.ok) {
    await commit(deps, 'notification_tried', { id: row.id, ok: true });
    return;
  }
  const wait = hashedBackoff(`notification:${row.id}`, row.attempts + 1, firstRetryMs, longestRetryMs);
  const retryAt = clock.steady() + Math.max(wait, Math.min(posted.retryAfterMs ?? 0, longestRetryMs));
  const over = retryAt - row.created_steady >= giveUpMs;
  const about = { notification: row.id, item: row.item_id, attempts: row.attempts + 1, error: posted.error };
  if (over) log.warn('a notification was given up', about);
  else if (row.attempts === 0) log.warn('a notification was not taken; it is tried again', about);
  await commit(deps, 'notification_tried', {
    id: row.id,
    ok: false,
    error: posted.error,
    retry_at: over ? null : retryAt,
  });
  if (over) await say(deps, row, posted.error);
};

/** In the inbox at least, of whose news somebody is not told. */
const say = async (deps: Deps, row: NotificationRow, error: string): Promise<void> => {
  const { clock, ids } = deps.kernel;
  await commit(deps, 'put_operator_item', {
    item: {
      id: ids.next(clock.now()),
      kind: 'alert',
      dedup_key: unreachedKey,
      priority: 'low',
      title: 'Notifications do not reach their receiver',
      evidence: [`"${row.item.title}" was given up after a day: the receiver ${error}.`, 'Try it: drover notify test'],
      fleet: true,
    },
    agent_name: null,
    execution_id: null,
  });
};

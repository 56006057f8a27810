/**
 * Sends the morning report once a day at the set local time, to where notifications go. It is stored before it is sent, one row
 * a day, so that a restart neither forgets nor repeats it; a receiver that does not take it is asked again for some hours, with
 * the same delivery id. Without a receiver there is none to send.
 */
import { installationSettings } from '../contract/limits.ts';
import { clockTime, type MorningSending, morningLimits } from '../contract/morning.ts';
import type { Deps } from '../flow/deps.ts';
import { hashedBackoff } from '../kernel/backoff.ts';
import { createErrand } from '../kernel/errand.ts';
import { dayOf } from '../kernel/zone.ts';
import { commit } from '../record/commit.ts';
import { atOn, makeMorningReport } from './morning-report.ts';
import { openTarget } from './notify-target.ts';
import { post } from './post-notification.ts';

/** A minute late is on time. */
const lookMs = 60_000;
/** Longer than a try can take. */
const holdMs = 60_000;
const firstRetryMs = 10_000;
const longestRetryMs = 1_800_000;

/** Local time of day, or null when it is switched off. */
const sentAt = async (deps: Deps): Promise<string | null> => {
  const stored = (await deps.store.read('setting', { key: installationSettings.morningReportAt }))?.value;
  if (stored === 'off') return null;
  return stored !== undefined && clockTime(stored) !== null ? stored : morningLimits.sentAt;
};

/** One turn; gives the ms until the next. */
export const sendMorning = async (deps: Deps): Promise<number> => {
  const target = await deps.store.read('notify_target', {});
  if (target === null) return lookMs;
  await makeIfTime(deps);
  const sending = await commit(deps, 'take_morning_report', { hold_ms: holdMs });
  if (sending === null) return lookMs;
  await send(deps, openTarget(deps.sealer, target), sending);
  return 0;
};

const makeIfTime = async (deps: Deps): Promise<void> => {
  const at = await sentAt(deps);
  if (at === null) return;
  const now = deps.kernel.clock.now();
  const zone = await deps.store.read('timezone', {});
  const due = atOn(zone, now, at);
  if (now < due || now - due > morningLimits.lateMs) return;
  if (await deps.store.read('morning_sent', { day: dayOf(zone, now) })) return;
  await commit(deps, 'put_morning_report', { report: await makeMorningReport(deps, null) });
};

const send = async (deps: Deps, address: Parameters<typeof post>[1], s: MorningSending): Promise<void> => {
  const { clock, log } = deps.kernel;
  const id = `morning-${s.day}`;
  const event = 'report.morning';
  const { text, ...report } = s.report;
  const body =
    address.format === 'slack'
      ? { text: `\`\`\`${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}\`\`\`` }
      : { id, event, at: new Date(s.created_at).toISOString(), report: { ...report, text } };
  const posted = await post(clock, address, { id, event, body: JSON.stringify(body) });
  if (posted.ok) {
    await commit(deps, 'morning_report_tried', { day: s.day, error: null, retry_at: null });
    return;
  }
  const retry_at =
    clock.steady() +
    Math.max(
      hashedBackoff(id, s.attempts + 1, firstRetryMs, longestRetryMs),
      Math.min(posted.retryAfterMs ?? 0, longestRetryMs),
    );
  const over = retry_at - s.created_steady > morningLimits.lateMs;
  log.warn(over ? 'the morning report was given up' : 'the morning report was not taken; it is sent again', {
    day: s.day,
    error: posted.error,
  });
  await commit(deps, 'morning_report_tried', { day: s.day, error: posted.error, retry_at: over ? null : retry_at });
};

/** Started once, by main.ts. */
export const createMorning = (deps: Deps) => createErrand(deps.kernel, 'the morning report', () => sendMorning(deps));

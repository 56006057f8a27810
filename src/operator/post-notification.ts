/**
 * One try of one notification: signed, bounded in time, to the configured address and nowhere else (a redirect is a failure). Says
 * what came back and throws nothing. The address may be a secret (Slack's are), so no error names more than its host.
 */
import { createHmac } from 'node:crypto';
import type { NotifyFormat } from '../contract/operator.ts';
import { version } from '../contract/version.ts';
import type { Clock } from '../kernel/clock.ts';
import { timedFetch } from '../kernel/timed-fetch.ts';
import { type Notification, notificationBody } from './notification-body.ts';

const timestampHeader = 'x-drover-timestamp';
const signatureHeader = 'x-drover-signature';
const deliveryHeader = 'x-drover-delivery';
const eventHeader = 'x-drover-event';

export interface Address {
  url: string;
  secret: string | null;
  format: NotifyFormat;
}

type Posted = { ok: true; status: number } | { ok: false; error: string; retryAfterMs: number | null };

/** A receiver answers when it has taken the text, not when it has dealt with it. */
const timeoutMs = 10_000;

/** `v1=` and hex of HMAC-SHA256 over the timestamp (Unix seconds), a dot, and the body as it was sent. */
const signature = (secret: string, timestamp: string, body: string): string =>
  `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;

export const postNotification = (clock: Clock, address: Address, n: Notification): Promise<Posted> =>
  post(clock, address, { id: n.id, event: n.event, body: notificationBody(n, address.format) });

/** `body` as it is sent, in the format of the address. */
export const post = async (
  clock: Clock,
  address: Address,
  n: { id: string; event: string; body: string },
): Promise<Posted> => {
  const { body } = n;
  const timestamp = String(Math.floor(clock.now() / 1000));
  const { answer, late, thrown } = await timedFetch(clock, timeoutMs, address.url, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': `drover/${version}`,
      [eventHeader]: n.event,
      [deliveryHeader]: n.id,
      [timestampHeader]: timestamp,
      ...(address.secret !== null && { [signatureHeader]: signature(address.secret, timestamp, body) }),
    },
  });
  if (answer === null) {
    const error = late ? `did not answer within ${timeoutMs / 1000} s` : unreachable(thrown);
    return { ok: false, error, retryAfterMs: null };
  }
  if (answer.ok) return { ok: true, status: answer.status };
  const redirect = answer.status >= 300 && answer.status < 400 ? ': redirects are not followed' : '';
  return { ok: false, error: `answered ${answer.status}${redirect}`, retryAfterMs: retryAfterMs(answer) };
};

/** Seconds only: a date would be a guess about two clocks. */
const retryAfterMs = (answer: Response): number | null => {
  const seconds = answer.headers.get('retry-after') ?? '';
  return /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1000 : null;
};

/** Fetch hides `ECONNREFUSED` a cause deep; its messages may quote the address. */
const unreachable = (thrown: unknown): string => {
  for (let e = thrown, depth = 0; e instanceof Error && depth < 4; e = e.cause, depth++) {
    const { code } = e as { code?: unknown };
    if (typeof code === 'string' && /^[A-Z_0-9]+$/.test(code)) return `cannot be reached (${code})`;
  }
  return 'cannot be reached';
};

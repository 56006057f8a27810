/**
 * Is a provider's key good? Asked of the provider itself, by the cheapest thing it answers: its list of models, which costs nothing.
 * Says yes, no, or that nobody knows; throws nothing. The key goes to that provider and nowhere else, in a header.
 */
import type { Clock } from '../kernel/clock.ts';
import { timedFetch } from '../kernel/timed-fetch.ts';

const providers = {
  anthropic: {
    url: 'https://api.anthropic.com/v1/models',
    headers: (key: string) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  },
  openai: {
    url: 'https://api.openai.com/v1/models',
    headers: (key: string) => ({ authorization: `Bearer ${key}` }),
  },
  gemini: {
    url: 'https://generativelanguage.googleapis.com/v1beta/models',
    headers: (key: string) => ({ 'x-goog-api-key': key }),
  },
} as const;
type KeyProvider = keyof typeof providers;

interface Tried {
  /** Null: the provider could not be asked, or answered something else. */
  valid: boolean | null;
  status: number | null;
  note: string;
}

const timeoutMs = 10_000;

/** `send`: the fetch of this process; tests give one of their own. */
export const tryKey = async (
  clock: Pick<Clock, 'after'>,
  provider: KeyProvider,
  key: string,
  send: typeof fetch = fetch,
): Promise<Tried> => {
  const { url, headers } = providers[provider];
  const { answer, late } = await timedFetch(clock, timeoutMs, url, { headers: headers(key) }, send);
  if (answer !== null) return judged(answer.status);
  const why = late ? `did not answer within ${timeoutMs / 1000} s` : 'cannot be reached from here';
  return { valid: null, status: null, note: `${new URL(url).host} ${why}. The key was not looked at.` };
};

/** A key that is good and may do nothing is still known: 403 says whose it is, 401 (Gemini: 400) that it is nobody's. */
const judged = (status: number): Tried => {
  if (status >= 200 && status < 300) return { valid: true, status, note: 'The provider accepts this key.' };
  if (status === 401 || status === 400) return { valid: false, status, note: 'The provider does not know this key.' };
  if (status === 403) return { valid: false, status, note: 'The provider knows this key and refuses it.' };
  return { valid: null, status, note: `The provider answered ${status}: try again later.` };
};

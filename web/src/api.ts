/**
 * The page's one client. It signs in by a cookie that no script can read; the CSRF token of the session is kept in memory
 * only and fetched anew when the server has forgotten its key (a restart).
 */
import { type Client, client } from '../../src/client/client.ts';
import { ApiError } from '../../src/client/request.ts';
import type { UserBody } from '../../src/client/wire.ts';
import { setServerTime } from './clock.ts';

let csrf: string | null = null;

export const api: Client = client('', { kind: 'cookie', csrf: () => csrf });

/** Who is signed in; null = nobody. */
export const whoAmI = async (): Promise<UserBody | null> => {
  try {
    const me = await api.me();
    csrf = me.csrf_token ?? csrf;
    return me;
  } catch (e) {
    if (e instanceof ApiError && e.status === 401) return null;
    throw e;
  }
};

export const signIn = async (username: string, password: string): Promise<void> => {
  const answer = await api.login(username, password, { 'x-drover-session': 'cookie' });
  csrf = answer.csrf_token ?? null;
};

/** A write: with a fresh CSRF token and once more when the one at hand is not good any more. */
export const write = async <T>(run: () => Promise<T>): Promise<T> => {
  try {
    return await run();
  } catch (e) {
    if (!(e instanceof ApiError) || e.code !== 'csrf') throw e;
    await whoAmI();
    return run();
  }
};

export const readServerTime = async (): Promise<void> => {
  const asked = Date.now();
  const health = await api.health();
  setServerTime(Date.parse(health.timestamp), asked);
};

/** What a person can read of anything that was thrown. */
export const inWords = (e: unknown): string => (e instanceof Error ? e.message : String(e));

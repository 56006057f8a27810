/** Requests to a fleet in nobody's name, by a token, and by the form of the sign-in: what tests of the gate and of people ask. */
import type { Fleet } from './fleet.ts';

/** Without the owner's token: what a stranger sees. */
export const bare = (
  fleet: Fleet,
  method: string,
  url: string,
  more: { payload?: unknown; headers?: Record<string, string> } = {},
) =>
  fleet.app.inject({
    method: method as 'GET',
    url,
    headers: more.headers ?? {},
    ...(more.payload !== undefined && { payload: more.payload as object }),
  });
export const as = (fleet: Fleet, token: string, method: string, url: string, payload?: unknown) =>
  bare(fleet, method, url, { payload, headers: { authorization: `Bearer ${token}` } });
export const form = (fleet: Fleet, body: string, headers: Record<string, string> = {}, url = '/token') =>
  bare(fleet, 'POST', url, {
    payload: body,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });

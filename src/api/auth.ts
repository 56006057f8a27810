/**
 * Request → Principal: before the 404, before the body is read. A bearer token is a session, a key (a person's, an agent's,
 * a runner's, the owner's file) or the token of a running execution; the page sends its session as a cookie.
 *
 * What was looked up is kept for 5 s, so that a client that sends a hundred requests costs one read. A revocation through
 * this server forgets everything at once; another server on the same database follows within those 5 s.
 */
import { type Principal, parseExecutionBearer } from '../contract/principal.ts';
import type { Deps } from '../flow/deps.ts';
import { commit } from '../record/commit.ts';
import type { KeyRow } from '../store/rows.ts';
import { hashToken, keyPrefix } from './secrets.ts';

/** Who it is, and the hash of the token that said so. */
interface Known {
  principal: Principal;
  hash: string;
}

export interface Authenticator {
  principalOf(token: string): Promise<Known | null>;
  /** After anything that takes a right away. */
  forget(): void;
}

const keptMs = 5_000;
/** Above it everything is forgotten: a stream of made-up tokens must not fill the memory. */
const keptMost = 10_000;
/** `last_used_at` is for people: once a minute is enough and keeps reads free of writes. */
const touchMs = 60_000;

export const createAuthenticator = (deps: Pick<Deps, 'kernel' | 'store' | 'stir'>): Authenticator => {
  const { clock, log } = deps.kernel;
  const kept = new Map<string, Known & { until: number }>();
  let age = 0;

  const lookUp = async (token: string, hash: string): Promise<Principal | null> => {
    const call = parseExecutionBearer(token);
    if (call !== null) {
      const caller = await deps.store.read('caller', { execution_id: call.executionId, token: call.token });
      return caller === null ? null : { kind: 'execution', ...call, agentId: caller.agent_id, name: caller.agent_name };
    }
    if (token.startsWith(keyPrefix)) {
      const key = await deps.store.read('key_by_hash', { hash });
      return key === null || key.revoked_at !== null ? null : ofKey(key);
    }
    const login = await deps.store.read('login', { hash });
    if (login === null || login.expires_at <= clock.now()) return null;
    return { kind: 'user', id: login.user.id, name: login.user.username, role: login.user.role };
  };

  const ofKey = async (key: KeyRow): Promise<Principal | null> => {
    const principal = await principalOfKey(key);
    if (principal !== null && (key.last_used_at ?? 0) + touchMs <= clock.now())
      commit(deps, 'touch_key', { id: key.id }).catch((error) =>
        log.warn('last use of a key was not noted', { error }),
      );
    return principal;
  };

  const principalOfKey = async (key: KeyRow): Promise<Principal | null> => {
    switch (key.scope) {
      case 'runner':
        return { kind: 'runner', id: key.id };
      case 'agent': {
        if (key.agent_id === null) return null;
        const agent = (await deps.store.read('agents', {})).find((a) => a.id === key.agent_id);
        return agent === undefined ? null : { kind: 'agent', agentId: agent.id, name: agent.name };
      }
      case 'user':
      case 'owner': {
        const user = key.user_id === null ? null : await deps.store.read('user', { id: key.user_id });
        return user === null ? null : { kind: 'user', id: user.id, name: user.username, role: user.role };
      }
      default:
        return key.scope satisfies never;
    }
  };

  return {
    async principalOf(token) {
      const hash = hashToken(token);
      const known = kept.get(hash);
      if (known !== undefined && known.until > clock.steady()) return known;
      const asked = age;
      const principal = await lookUp(token, hash);
      if (principal === null) {
        kept.delete(hash);
        return null;
      }
      if (kept.size >= keptMost) kept.clear();
      // A look-up that began before a revocation may have read what is no longer true.
      if (asked === age) kept.set(hash, { principal, hash, until: clock.steady() + keptMs });
      return { principal, hash };
    },
    forget() {
      age++;
      kept.clear();
    },
  };
};

/**
 * A CLI has refreshed the login it was lent, and the old one is used up: the new one is sealed in its place, by compare-and-set on
 * what was there. Taken only from an attempt that was lent this credential, only of the same account and only when it is newer:
 * the agent had the file in its hands. The content is never logged, and never part of facts.
 */
import { readCodexLogin } from '../contract/codex-login.ts';
import { type Refusal, refuse } from '../contract/errors.ts';
import type { LoginAnswer, LoginRequest } from '../contract/runner-protocol.ts';
import { commit } from '../record/commit.ts';
import type { Deps } from './deps.ts';

export const keepLogin = async (
  deps: Deps,
  attemptId: string,
  { token, login }: LoginRequest,
): Promise<LoginAnswer | Refusal> => {
  const fresh = readCodexLogin(login);
  if (fresh === null)
    return refuse('invalid', 'login: is not the auth.json of a ChatGPT login.', {
      details: [{ field: 'login', problem: 'is not the auth.json of a ChatGPT login' }],
    });
  const owner = await deps.store.read('attempt_owner', { attempt_id: attemptId, token });
  const known = owner === null ? null : await deps.store.read('attempt_for_finish', { attempt_id: attemptId });
  const credential = known?.credential ?? null;
  if (credential?.kind !== 'codex_login' || credential.sealed === null) return { result: 'lost' };
  const stored = readCodexLogin(deps.sealer.open(credential.id, credential.sealed));
  if (stored !== null && stored.account !== fresh.account) {
    deps.kernel.log.warn('a login of another account was not taken', { credential: credential.id, attempt: attemptId });
    return { result: 'foreign' };
  }
  if (stored !== null && stored.refreshedAt >= fresh.refreshedAt) return { result: 'older' };
  const { done } = await commit(deps, 'reseal_credential', {
    id: credential.id,
    before: credential.sealed,
    after: deps.sealer.seal(credential.id, login),
  });
  return { result: done ? 'kept' : 'older' };
};

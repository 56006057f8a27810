/**
 * After a run: a login that its CLI has refreshed goes back to the server, before the facts, so that the next run on another host
 * is not lent a used-up token. By a call of its own: never in facts, never in a log. What is not taken stays here, where the next
 * run of this host finds it.
 */
import type { ClaimedWork } from '../contract/runner-protocol.ts';
import { changedLogin, noteKnownLogin } from './adapters/codex-login.ts';
import type { RunnerParts } from './parts.ts';
import { whileUnreachable } from './retry.ts';
import { ServerRefused } from './server-client.ts';

export const giveBackLogin = async ({ credential, attempt, token }: ClaimedWork, parts: RunnerParts): Promise<void> => {
  if (credential?.kind !== 'codex_login') return;
  const { kernel, server, leaving, adapterHost } = parts;
  try {
    const login = await changedLogin(adapterHost.home, credential.id);
    if (login === null) return;
    const answer = await whileUnreachable(kernel, 'giving back a login', attempt, leaving, () =>
      server.login(attempt, token, login, leaving),
    );
    await noteKnownLogin(adapterHost.home, credential.id, login);
    kernel.log.info('a refreshed login was given back', { attempt, credential: credential.id, result: answer.result });
  } catch (error) {
    if (leaving.aborted) throw error;
    const said = error instanceof ServerRefused ? error.message : error;
    kernel.log.warn('a refreshed login was not given back', { attempt, credential: credential.id, error: said });
  }
};

/** What the agents of a history log in with: keys of one provider, sealed as a person's are, in one pool. */
import type { Deps } from '../../src/flow/deps.ts';
import { commit } from '../../src/record/commit.ts';

export const loginId = (n: number): string => `login-${n}`;

/** The same number again is the same login with another secret: what was known against it is over. */
export const putLogin = (deps: Deps, n: number, max_parallel: number | null, secret: string) =>
  commit(deps, 'put_credential', {
    credential: {
      id: loginId(n),
      name: loginId(n),
      kind: 'anthropic_api_key',
      sealed: deps.sealer.seal(loginId(n), secret),
      max_parallel,
      pool: null,
      state: 'unknown',
      until: null,
      last_evidence: null,
      last_used_at: null,
      created_at: 0,
    },
  });

/** A new key, whoever's it is: its hash is stored, and the key itself is handed back to be shown or written down once. */
import type { Deps } from '../flow/deps.ts';
import { commit } from '../record/commit.ts';
import type { KeyRow } from '../store/rows.ts';
import { hashToken, newKey, shownPrefix } from './secrets.ts';

type Of = Pick<KeyRow, 'name' | 'description' | 'scope'> & Partial<Pick<KeyRow, 'user_id' | 'agent_id'>>;

/** `key`: one that is written down already. */
export const storeNewKey = async (
  deps: Pick<Deps, 'kernel' | 'store' | 'stir'>,
  of: Of,
  key: string = newKey(deps.kernel.random),
): Promise<{ row: KeyRow; key: string }> => {
  const now = deps.kernel.clock.now();
  const row = await commit(deps, 'create_key', {
    key: {
      id: deps.kernel.ids.next(now),
      user_id: null,
      agent_id: null,
      ...of,
      prefix: shownPrefix(key),
      hash: hashToken(key),
      created_at: now,
      last_used_at: null,
      revoked_at: null,
    },
  });
  return { row, key };
};

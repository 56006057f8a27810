/**
 * The first start makes an owner: user `admin` without a password, its token in `DROVER_HOME/owner.token` and the key of the
 * local runner in `runner.key`, both 0600. There is no default password, and being on loopback proves nothing (R44).
 *
 * Every later start brings files and rows together again: a file without its row (the database is another one) is made known,
 * a row without its file (the file was deleted to take the right away) is revoked and a new file written.
 */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Fault, isRefusal } from '../contract/errors.ts';
import { readSecretFile, writeSecretFile } from '../credentials/secret-file.ts';
import type { Deps } from '../flow/deps.ts';
import { commit } from '../record/commit.ts';
import type { KeyRow, UserRow } from '../store/rows.ts';
import { storeNewKey } from './new-key.ts';
import { putNewRunner } from './new-runner.ts';
import { hashToken, keyPrefix, newKey } from './secrets.ts';

export const ownerName = 'admin';
export const ownerTokenPath = (home: string): string => join(home, 'owner.token');
export const runnerKeyPath = (home: string): string => join(home, 'runner.key');

/** What of the server's parts it takes: it runs before the app exists. */
type Starting = Pick<Deps, 'kernel' | 'store' | 'stir' | 'config'>;

export const ensureOwner = async (deps: Starting): Promise<void> => {
  const owner = await ownerRow(deps);
  const keys = await deps.store.read('keys', {});
  await ensureKeyFile(deps, keys, ownerTokenPath(deps.config.home), {
    name: 'owner.token',
    description: 'The token of this installation, read by bin/drover.',
    scope: 'owner',
    user_id: owner.id,
  });
  const runnerKey = await ensureKeyFile(deps, keys, runnerKeyPath(deps.config.home), {
    name: 'local runner',
    description: 'The runner that npm start starts.',
    scope: 'runner',
    user_id: null,
  });
  const known = (await deps.store.read('runners', {})).some((r) => r.id === runnerKey);
  if (!known) await putNewRunner(deps, { id: runnerKey, name: hostname() });
};

const ownerRow = async (deps: Starting): Promise<UserRow> => {
  const known = await deps.store.read('user_by_name', { username: ownerName });
  if (known !== null) return known;
  const now = deps.kernel.clock.now();
  const made = await commit(deps, 'create_user', {
    user: {
      id: deps.kernel.ids.next(now),
      username: ownerName,
      email: null,
      role: 'owner',
      password_hash: null,
      created_at: now,
    },
  });
  if (isRefusal(made)) throw new Fault('internal', `The owner could not be made: ${made.message}`);
  return made;
};

/** The id of the key row that the file's content belongs to. */
const ensureKeyFile = async (
  deps: Starting,
  keys: KeyRow[],
  path: string,
  of: Pick<KeyRow, 'name' | 'description' | 'scope' | 'user_id'>,
): Promise<string> => {
  const stored = readSecretFile(path);
  // A key that was revoked by hand stays so: its file gets a new one.
  const usable =
    stored?.startsWith(keyPrefix) && !keys.some((k) => k.hash === hashToken(stored) && k.revoked_at !== null);
  const secret = usable ? stored! : newKey(deps.kernel.random);
  const hash = hashToken(secret);
  const live = keys.filter((k) => k.scope === of.scope && k.name === of.name && k.revoked_at === null);
  for (const old of live.filter((k) => k.hash !== hash))
    await commit(deps, 'revoke_key', { id: old.id, remove: false });
  const same = live.find((k) => k.hash === hash);
  if (same !== undefined) return same.id;
  // File first: a row whose file was never written is revoked by the next start, a file whose row is missing is made known.
  if (secret !== stored) writeSecretFile(path, secret);
  return (await storeNewKey(deps, of, secret)).row.id;
};

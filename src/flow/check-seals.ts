/**
 * Do the stored secrets open with the key of this server? Looked at when it starts, and when one did not open as it was lent. What
 * does not open is lent to nobody, nothing is used instead, and a person is told once; it is good again when the key is back.
 */
import { openedOrNull } from '../credentials/seal.ts';
import { commit } from '../record/commit.ts';
import type { Deps } from './deps.ts';

export const checkSeals = async (deps: Deps): Promise<void> => {
  const rows = (await deps.store.read('credentials', {})).filter((c) => c.sealed !== null);
  const shut = rows.filter((c) => openedOrNull(deps.sealer, c.id, c.sealed!) === null);
  const done = await commit(deps, 'note_seals', {
    unopened: shut.map((c) => c.id),
    item: {
      id: deps.kernel.ids.next(deps.kernel.clock.now()),
      kind: 'alert',
      dedup_key: 'credentials_do_not_open',
      priority: 'high',
      title: `${shut.length} of ${rows.length} stored secrets do not open with the key of this server`,
      evidence: [
        shut.map((c) => c.name).join(', '),
        'Put DROVER_HOME/secret.key or DROVER_SECRET_KEY back from a backup and start the server again, or store them anew: drover creds replace NAME',
      ],
      fleet: true,
    },
  });
  if (done.closed.length > 0)
    deps.kernel.log.error('stored secrets do not open with this key', { credentials: done.closed });
};

/** Names of the store's files in DROVER_HOME. */
import { join } from 'node:path';

export const sqliteFiles = (home: string) => ({
  main: join(home, 'drover.db'),
  /** What the agents' processes said; opened by the log thread alone. */
  logs: join(home, 'logs.db'),
  /** Held in BEGIN EXCLUSIVE by the one server of this home; freed by the kernel however that server ends. */
  owner: join(home, 'owner.db'),
  backups: join(home, 'backups'),
  /** Only takes up space, to be freed when the disk is full. */
  ballast: join(home, 'ballast'),
});

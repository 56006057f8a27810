/**
 * Puts the files of a backup in the place of a home's own, while no server owns it. Verified first, then moved: a failure
 * before the last step leaves what was there. The old files are kept, whole, in a directory of their own.
 */
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Backup } from '../contract/backup.ts';
import { Fault } from '../contract/errors.ts';
import { hashFile, syncDir, verifySqlite } from './engines/sqlite-copy.ts';
import { sqliteFiles } from './engines/sqlite-files.ts';
import { ownHome } from './engines/sqlite-owner.ts';
import { migrations } from './migrations/list.ts';

/** `kept`: where the files are that were there before; null when there were none. Throws a Fault that says what to do. */
export const replaceFiles = ({
  home,
  backup,
  now,
}: {
  home: string;
  backup: Backup;
  now: number;
}): { kept: string | null } => {
  if (backup.schema > migrations.length)
    throw new Fault(
      'invalid',
      `The backup has schema ${backup.schema}, and this Drover knows up to ${migrations.length}. Restore it with Drover ${backup.drover} or newer.`,
    );
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const owned = ownHome(home);
  try {
    for (const file of backup.files) {
      const found = join(backup.path, file.name);
      if (!existsSync(found) || hashFile(found).sha256 !== file.sha256)
        throw new Fault(
          'invalid',
          `${found} is not what the backup was made with: it is missing or was changed. Take another backup.`,
        );
    }
    const files = sqliteFiles(home);
    const places = { 'drover.db': files.main, 'logs.db': files.logs };
    const fresh: [string, string][] = [];
    for (const [name, place] of Object.entries(places)) {
      const arriving = `${place}.restoring`;
      rmSync(arriving, { force: true });
      cpSync(join(backup.path, name), arriving);
      hashFile(arriving, true);
      verifySqlite(arriving);
      fresh.push([arriving, place]);
    }
    const kept = join(files.backups, `replaced-${now}`);
    const old = Object.values(places)
      .flatMap((p) => [p, `${p}-wal`, `${p}-shm`])
      .filter((p) => existsSync(p));
    if (old.length > 0) mkdirSync(kept, { recursive: true, mode: 0o700 });
    for (const file of old) renameSync(file, join(kept, file.slice(home.length + 1)));
    for (const [arriving, place] of fresh) renameSync(arriving, place);
    syncDir(home);
    return { kept: old.length > 0 ? kept : null };
  } finally {
    owned.release();
  }
};

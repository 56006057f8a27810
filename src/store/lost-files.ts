/**
 * A home that was used before and whose database has gone: looked at before SQLite, which takes an empty file for a new database,
 * opens it. An empty file is refused, because nobody empties one on purpose and what it held may be in a copy; a missing one is a
 * way to start anew, so it is said aloud and done. Reads nothing, changes nothing.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../contract/errors.ts';
import { sqliteFiles } from './engines/sqlite-files.ts';

const sizeOf = (file: string): number | null => statSync(file, { throwIfNoEntry: false })?.size ?? null;
const namesIn = (dir: string): string[] => {
  try {
    return readdirSync(dir).sort();
  } catch {
    return [];
  }
};

/** Written by a start that came as far as the database, or by what ran after it. */
const traces = (home: string): string[] => [
  ...['secret.key', 'owner.token', 'runner.key'].filter((name) => sizeOf(join(home, name)) !== null),
  ...(namesIn(join(home, 'runner', 'attempts')).length > 0 ? ['runner/attempts'] : []),
];

const newestCopy = (dir: string): string => {
  const copies = namesIn(dir).filter((name) => name.endsWith('.db'));
  const ages = copies.map((name) => ({ name, at: statSync(join(dir, name)).mtimeMs })).sort((a, b) => b.at - a.at);
  return ages[0] === undefined ? `no copy is in ${dir}` : `the newest in ${dir} is ${ages[0].name}`;
};

/** What the log must say; throws where starting would hide a loss. */
export const lookForLoss = (home: string): string[] => {
  const { main, logs, backups } = sqliteFiles(home);
  const [size, logSize] = [sizeOf(main), sizeOf(logs)];
  if (size !== null && size > 0)
    return logSize === 0
      ? [
          `${logs} is empty (0 bytes): the transcripts of earlier runs are gone. Put a copy of it back, or go on without them.`,
        ]
      : [];
  const found = traces(home);
  if (found.length === 0) return [];
  const used = `this home was used before (${found.join(', ')})`;
  if (size === null)
    return [
      `${main} is missing, but ${used}. A new, empty database is made. If that is not wanted: stop, and put a copy back (${newestCopy(backups)}).`,
    ];
  throw new Fault(
    'not_ready',
    `${main} is empty (0 bytes), but ${used}: what it held is lost. Put a copy of it back (${newestCopy(backups)}). To start anew without what it held, remove the empty file and start again.`,
  );
};

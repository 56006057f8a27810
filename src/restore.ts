/**
 * The program of `drover restore DIR`: puts a backup in the place of the store, with no server running. Everything is verified
 * before anything is moved; what was there is kept under backups/. The fleet is paused afterwards: what was queued when the
 * backup was made may have run since, and nobody but a person knows whether it should run again.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { programEnd } from './cli/program-end.ts';
import { type Config, readConfig } from './config.ts';
import { type Backup, manifestName } from './contract/backup.ts';
import { Fault } from './contract/errors.ts';
import { systemClock } from './kernel/clock.ts';
import { readBackup } from './record/backups.ts';
import { openStore } from './store/open.ts';
import { replaceFiles } from './store/restore.ts';

const say = (text: string) => process.stdout.write(`${text}\n`);

const backupAt = (path: string): Backup => {
  if (!existsSync(path))
    throw new Fault('not_found', `There is no ${path}. drover backup --list names the backups of a running server.`);
  const backup = readBackup(path);
  if (backup === null)
    throw new Fault(
      'invalid',
      `${path} is not a whole backup: it has no ${manifestName} that this version reads. Take a directory below DROVER_HOME/backups.`,
    );
  return backup;
};

const main = async (config: Readonly<Config>, args: string[]) => {
  const json = args.includes('--json');
  const dir = args.find((a) => a !== '--json');
  if (dir === undefined) throw new Fault('invalid', 'Name the backup: drover restore DIR.');
  const backup = backupAt(resolve(dir));
  const clock = systemClock();
  const { kept } = replaceFiles({ home: config.home, backup, now: clock.now() });
  const store = await openStore({ home: config.home });
  const at = systemClock(await store.read('clock_high_water', {}));
  await store.write('set_paused', { paused: true, by: 'restore', now: at.now(), steady: at.steady() });
  await store.close();
  if (json)
    return say(JSON.stringify({ restored: backup.path, replaced: kept, paused: true, executions: backup.executions }));
  const { queued, live, total } = backup.executions;
  say(`Restored ${backup.path}, made ${backup.created_at} by Drover ${backup.drover}: ${total} executions.`);
  if (kept !== null) say(`  before    what was there is kept in ${kept}`);
  if (live > 0)
    say(
      `  running   ${live} ran when it was made; their end is recorded if a runner still knows it, else they are called lost`,
    );
  say(
    `  paused    ${queued} were queued and may have run since. Look at them (drover ps), cancel what is done, then: drover resume`,
  );
  if (config.secretKey === null && !existsSync(join(config.home, 'secret.key')))
    say(
      `  key       ${join(config.home, 'secret.key')} is not there: put your copy back before you start, or enter the stored logins' secrets again`,
    );
};

const args = process.argv.slice(2);
const run = async () => main(readConfig(), args);
run().catch((error) => {
  const { text, code } = programEnd('drover', error, args.includes('--json'));
  process.stderr.write(text);
  process.exit(code);
});

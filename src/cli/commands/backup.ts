/** `drover backup` asks the running server for a verified copy of the store; `drover restore` becomes the program that puts one back. */
import type { Backup } from '../../contract/backup.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { usage } from '../failure.ts';
import { table } from '../show/table.ts';

const megabytes = (backup: Backup): string =>
  `${(backup.files.reduce((n, f) => n + f.bytes, 0) / 1_000_000).toFixed(1)} MB`;

export const backup = async (context: Context, options: { keep?: number; list?: boolean }): Promise<ExitName> => {
  const { api } = context.connection();
  const say = (text: string) => context.terminal.out(`${text}\n`);
  if (options.list) {
    if (options.keep !== undefined) throw usage('--list changes nothing, and --keep deletes: one of them.');
    const { backups } = await api.backups();
    if (context.json) for (const b of backups) printJson(context, b);
    else if (backups.length === 0) say('No backups yet. Make one: drover backup');
    else
      context.terminal.out(
        table(
          context.terminal,
          ['MADE', 'SIZE', 'EXECUTIONS', 'WHERE'],
          backups.map((b) => [b.created_at, megabytes(b), String(b.executions.total), b.path]),
        ),
      );
    return 'ok';
  }
  const made = await api.makeBackup(options.keep ?? null);
  if (context.json) {
    printJson(context, made);
    return 'ok';
  }
  say(`${made.path}  ${megabytes(made)}, verified`);
  say('It does not hold:');
  for (const lack of made.lacks) say(`  - ${lack}`);
  say(`To put it back, with the server stopped: drover restore ${made.path}`);
  return 'ok';
};

export const restore = async (context: Context, _: unknown, [dir]: string[]): Promise<ExitName> => {
  context.config();
  return context.become('restore', [dir!, ...(context.json ? ['--json'] : [])]);
};

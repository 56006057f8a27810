/** `drover keys …`: names, arguments and options of the commands that keep API keys. */
import type { Command } from 'commander';
import type { Declare } from './options.ts';

export const keysCommands = (program: Command, declare: Declare): void => {
  const load = () => import('./commands/keys.ts');
  const keys = declare(program, 'keys', 'API keys of people and agents', async () => (await load()).list);
  declare(keys, 'ls', 'the same: all that work, and when each was used last', async () => (await load()).list)
    .alias('list')
    .option('--all', 'revoked ones too');
  declare(keys, 'add <name>', 'make one; it is shown once', async () => (await load()).add)
    .option(
      '--agent <name>',
      'a key of this agent: it may what the agent may, never what you may (default: a key of yours)',
    )
    .option('--description <text>', 'what it is for');
  declare(
    keys,
    'revoke <key>',
    'end one at once, by its name, its id or how it begins; it stays in the list of --all',
    async () => (await load()).revoke,
  );
  declare(keys, 'rm <key>', 'end one and forget it', async () => (await load()).remove);
};

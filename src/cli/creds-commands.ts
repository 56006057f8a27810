/** `drover creds …`: names and arguments of the commands that keep credentials. */
import { type Command, Option } from 'commander';
import { credentialKinds } from '../contract/credential.ts';
import { type Declare, whole } from './options.ts';

export const credsCommands = (program: Command, declare: Declare): void => {
  const creds = program.command('creds').description('what agents may log in with; secrets come on stdin');
  const load = () => import('./commands/creds.ts');
  declare(
    creds,
    'add <name>',
    'store one, sealed: printenv ANTHROPIC_API_KEY | drover creds add NAME',
    async () => (await load()).add,
  )
    .addOption(new Option('--kind <kind>', 'what it is (default: anthropic_api_key)').choices(credentialKinds))
    .option('--pool <tag>', 'agents with this pool draw from it')
    .option('--max-parallel <n>', 'runs at once on it', whole('--max-parallel'));
  declare(creds, 'ls', 'all, with their state', async () => (await load()).list).alias('list');
  declare(
    creds,
    'replace <name>',
    'give it a new secret, from stdin: printenv NAME | drover creds replace CREDENTIAL',
    async () => (await load()).replace,
  );
  declare(creds, 'set <name>', 'change its pool or its cap', async () => (await load()).change)
    .option('--pool <tag>', 'agents with this pool draw from it; "" takes the tag off')
    .option('--max-parallel <n>', 'runs at once on it', whole('--max-parallel'));
  declare(creds, 'events', 'what their providers said of them, newest first', async () => (await load()).events);
  declare(creds, 'rm <name>', 'delete one; what runs keeps what it was lent', async () => (await load()).remove);
};

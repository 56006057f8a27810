/** `drover creds …`: names and arguments of the commands that keep credentials. */
import { type Command, Option } from 'commander';
import { credentialKinds } from '../contract/credential.ts';
import { type Declare, whole } from './options.ts';

/** A Codex login is a file that renews itself: there is no way in for it yet. */
const storable = credentialKinds.filter((kind) => kind !== 'codex_login');

export const credsCommands = (program: Command, declare: Declare): void => {
  const creds = program.command('creds').description('what agents may log in with; secrets come on stdin');
  const load = () => import('./commands/creds.ts');
  declare(
    creds,
    'add <name>',
    'store one, sealed: printenv ANTHROPIC_API_KEY | drover creds add NAME',
    async () => (await load()).add,
  )
    .addOption(new Option('--kind <kind>', 'what it is (default: anthropic_api_key)').choices(storable))
    .option('--pool <tag>', 'agents with this pool draw from it')
    .option('--max-parallel <n>', 'runs at once on it', whole('--max-parallel'));
  declare(creds, 'ls', 'all, with their state', async () => (await load()).list).alias('list');
  declare(creds, 'rm <name>', 'delete one; what runs keeps what it was lent', async () => (await load()).remove);
};

/** `drover inbox …` and `drover notify …`: names, arguments and options of what is about the operator. */
import { type Command, Option } from 'commander';
import { NotifyFormat, severities } from '../contract/operator.ts';
import type { Declare } from './options.ts';

export const operatorCommands = (program: Command, declare: Declare): void => {
  const load = () => import('./commands/inbox.ts');
  const inbox = declare(program, 'inbox', 'what needs a person', async () => (await load()).list).option(
    '--all',
    'what was answered, acknowledged or closed, too',
  );
  declare(inbox, 'ls', 'the same', async () => (await load()).list)
    .alias('list')
    .option('--all', 'what was answered, acknowledged or closed, too');
  declare(
    inbox,
    'answer <item> [text...]',
    'answer a question; "-" or a pipe: the answer from stdin',
    async () => (await load()).answer,
  );
  declare(inbox, 'approve <item>', 'approve what an agent asks for', async () => (await load()).approve).option(
    '--note <text>',
    'told to the agent with it',
  );
  declare(inbox, 'deny <item>', 'deny it', async () => (await load()).deny).option(
    '--note <text>',
    'told to the agent with it',
  );
  declare(inbox, 'ack <item>', 'mark an alert as seen', async () => (await load()).acknowledge);

  declare(
    program,
    'morning',
    'the last night: what happened, what was saved, what needs you, what it cost',
    async () => (await import('./commands/morning.ts')).morning,
  ).option('--since <when>', 'since then: 12h, 2026-11-30 (default: the last 18:00)');

  const loadNotify = () => import('./commands/notify.ts');
  const notify = declare(
    program,
    'notify',
    'where alerts and questions are sent, and the last of them',
    async () => (await loadNotify()).show,
  );
  declare(
    notify,
    'set <url>',
    'send them to this address; "-": the address from stdin, because that of a Slack hook is a secret',
    async () => (await loadNotify()).set,
  )
    .option('--secret-from-stdin', 'the secret that signs them comes on stdin (after the address, when that does)')
    .addOption(new Option('--min-severity <severity>', 'from which on (default: normal)').choices([...severities]))
    .addOption(new Option('--format <format>', 'the shape (default: json)').choices([...NotifyFormat.options]));
  declare(notify, 'test', 'send a test now', async () => (await loadNotify()).test);
  declare(notify, 'off', 'send nothing; what waits is given up', async () => (await loadNotify()).off);
};

/** `drover schedule …`, `webhook …`, `people …`, `chat`, `apply`, `export`, `emergency-stop`: names, arguments and options. */
import { type Command, Option } from 'commander';
import { roles } from '../contract/principal.ts';
import { catchUps, overlaps } from '../contract/schedule.ts';
import { type Declare, whole } from './options.ts';

const scheduleFlags = (command: Command): Command =>
  command
    .option('--timezone <zone>', 'the zone the expression is read in, e.g. Europe/Berlin (default: UTC)')
    .addOption(new Option('--overlap <what>', 'while an earlier run goes (default: skip)').choices([...overlaps]))
    .addOption(new Option('--catch-up <what>', 'after the server was away (default: none)').choices([...catchUps]))
    .option('--jitter <seconds>', 'each tick up to this much later', whole('--jitter'))
    .option('--timeout <seconds>', 'how long a run may take', whole('--timeout'))
    .option('--retries <n>', 'further tries of a run', whole('--retries'))
    .option('--model <model>', 'another model for its runs')
    .option('--description <text>', 'what it is for');

export const dayCommands = (program: Command, declare: Declare): void => {
  const load = () => import('./commands/schedule.ts');
  const schedule = declare(program, 'schedule', 'all schedules, and what runs next', async () => (await load()).list);
  declare(schedule, 'ls', 'the same', async () => (await load()).list).alias('list');
  scheduleFlags(
    declare(
      schedule,
      'add <agent> <name> <cron> [message...]',
      'run a message again and again: drover schedule add writer nightly "0 3 * * *" tidy up',
      async () => (await load()).add,
    ),
  ).option('--off', 'store it switched off');
  declare(schedule, 'show <agent> <name>', 'one schedule and its next times', async () => (await load()).show);
  declare(schedule, 'history <agent> <name>', 'its ticks, skipped ones too', async () => (await load()).history).option(
    '--limit <n>',
    'how many (default: 20)',
    whole('--limit'),
  );
  declare(schedule, 'run <agent> <name>', 'run it now; its next tick stays', async () => (await load()).trigger);
  declare(schedule, 'on <agent> <name>', 'switch it on', async () => (await load()).on);
  declare(schedule, 'off <agent> <name>', 'switch it off', async () => (await load()).off);
  declare(schedule, 'rm <agent> <name>', 'delete it; what it ran is kept', async () => (await load()).remove);
  declare(schedule, 'pause', 'hold all: ticks are skipped', async () => (await load()).pauseAll);
  declare(schedule, 'resume', 'all go on', async () => (await load()).resumeAll);

  const loadHook = () => import('./commands/webhook.ts');
  const webhook = program.command('webhook').description('addresses by which other programs give an agent work');
  declare(webhook, 'ls <agent>', 'the webhooks of an agent', async () => (await loadHook()).list);
  declare(
    webhook,
    'add <agent> <name> [message...]',
    'make one; its address is shown once',
    async () => (await loadHook()).add,
  )
    .option('--secret-from-stdin', 'calls must be signed with the secret on stdin')
    .option('--per-minute <n>', 'calls a minute (default: 60)', whole('--per-minute'));
  declare(
    webhook,
    'rm <agent> <name>',
    'delete it: the address is dead at once',
    async () => (await loadHook()).remove,
  );

  const loadPeople = () => import('./commands/people.ts');
  const people = declare(
    program,
    'people',
    'who may sign in, and open invitations',
    async () => (await loadPeople()).list,
  );
  declare(people, 'ls', 'the same', async () => (await loadPeople()).list).alias('list');
  declare(people, 'invite', 'a link that lets one person in, once', async () => (await loadPeople()).invite)
    .addOption(new Option('--role <role>', 'what they may do (default: operator)').choices([...roles]))
    .option('--name <name>', 'the name they sign in with (default: they choose)')
    .option('--hours <n>', 'how long the link works (default: 72)', whole('--hours'));
  declare(
    people,
    'role <name> <role>',
    'another role: owner, operator or viewer',
    async () => (await loadPeople()).role,
  );
  declare(people, 'rm <name>', 'remove a person; agents go to you', async () => (await loadPeople()).remove);

  declare(
    program,
    'chat <agent>',
    'talk with an agent, line by line',
    async () => (await import('./commands/chat.ts')).chat,
  )
    .option('--session <id>', 'go on in this session')
    .option('--continue <execution>', 'go on from this execution, a task too');

  const loadApply = () => import('./commands/apply.ts');
  declare(
    program,
    'apply <file>',
    'make the fleet as a YAML manifest says; "-": from stdin. Nothing is deleted',
    async () => (await loadApply()).apply,
  ).option('--dry-run', 'only show what would be done');
  declare(program, 'export', 'this fleet as a manifest', async () => (await loadApply()).exportFleet);

  declare(
    program,
    'emergency-stop',
    'at once: nothing new starts, schedules are held, all that runs is ended; the queue is kept',
    async () => (await import('./commands/emergency-stop.ts')).emergencyStop,
  )
    .option('--yes', 'do not ask')
    .option('--reason <text>', 'kept with it');
};

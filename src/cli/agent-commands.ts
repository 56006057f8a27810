/**
 * `drover agent …`: names, arguments, and one flag for every field of AgentSpec. What a flag becomes in the spec stands in
 * commands/agent-spec.ts; the server has the last word on every value.
 */
import { type Command, Option } from 'commander';
import { adapters, permissionModes, workspaceModes } from '../contract/agent.ts';
import { limits } from '../contract/limits.ts';
import { collect, type Declare, whole } from './options.ts';

const specFlags = (command: Command): Command =>
  command
    .addOption(
      new Option('--adapter <adapter>', 'which kind of CLI (default: claude; command with -- argv)').choices([
        ...adapters,
      ]),
    )
    .option('--type <label>', 'a free label')
    .option('--model <model>', 'the model of its runs')
    .option('--workspace <dir>', 'the directory it works in (default: one of its own under DROVER_HOME)')
    .option('--executable <path>', 'the program of its CLI (default: from PATH)')
    .option('--base-url <url>', 'adapter http: where its service listens')
    .option('--env <name=value>', 'a variable for its runs, never a secret; again for more', collect)
    .option('--memory <size>', 'memory limit of a run: 384m, 2g (default: none)')
    .option('--cpu <cores>', 'processors it may use: 0.5, 2')
    .option('--max-parallel <n>', `runs at once (default: ${limits.maxParallelTasks.default})`, whole('--max-parallel'))
    .option(
      '--max-backlog <n>',
      `executions that may wait (default: ${limits.maxBacklogDepth.default})`,
      whole('--max-backlog'),
    )
    .option('--timeout <seconds>', `how long a run may take (default: ${limits.timeoutS.default})`, whole('--timeout'))
    .option('--stall <seconds>', 'how long a run may be silent, whatever it waits for; 0 = for ever', whole('--stall'))
    .option('--instructions <text>', 'added to every prompt')
    .addOption(new Option('--permission-mode <mode>', 'what it may do without asking').choices([...permissionModes]))
    .option('--allow-bypass-without-isolation', 'names the risk: bypassPermissions with the rights of the runner')
    .option('--allow-tool <tool>', 'a tool it may use, e.g. "Bash(npm test:*)"; again for more', collect)
    .addOption(
      new Option(
        '--workspace-mode <mode>',
        'a git worktree per run, the directory itself, or a copy (default: worktree in a git repository when more than one may run at once, else shared)',
      ).choices([...workspaceModes]),
    )
    .option('--pool <tag>', 'the credentials it may draw from; "" takes it off')
    .option('--tag <word>', 'a word by which costs are told apart; again for more', collect);

export const agentCommands = (program: Command, declare: Declare): void => {
  const agent = program.command('agent').description('add, show, change and remove agents');
  const load = () => import('./commands/agent.ts');

  specFlags(
    declare(
      agent,
      'add <name> [command...]',
      'add an agent; after -- the argv of adapter command',
      async () => (await load()).add,
    ),
  );
  declare(agent, 'ls', 'all agents', async () => (await load()).list).alias('list');
  declare(agent, 'show <name>', 'one agent, whole', async () => (await load()).show);
  declare(agent, 'start <name>', 'let it take work', async () => (await load()).start);
  declare(agent, 'stop <name>', 'start nothing new for it; what runs goes on', async () => (await load()).stop).option(
    '--force',
    'end what runs, too',
  );
  specFlags(
    declare(agent, 'set <name> [command...]', 'change the fields that are given', async () => (await load()).set),
  ).option('--clear <flag>', 'back to its default, e.g. --clear model; again for more', collect);
  declare(agent, 'rm <name>', 'remove it; its executions stay in the history', async () => (await load()).remove);
};

/**
 * The command line: names, arguments and options, and nothing else. Each command's code is imported when it is run, so that
 * `--help` costs no more than this file. Every command returns its exit code by name; every failure is told once, here.
 */
import { Command, CommanderError } from 'commander';
import { agentCommands } from './agent-commands.ts';
import { contextOf, type World } from './context.ts';
import { credsCommands } from './creds-commands.ts';
import { dayCommands } from './day-commands.ts';
import { exitCodes } from './exit-codes.ts';
import { tell, usage } from './failure.ts';
import { keysCommands } from './keys-commands.ts';
import { moneyCommands } from './money-commands.ts';
import { operatorCommands } from './operator-commands.ts';
import { collect, type Declare, type Run, whole } from './options.ts';

export const runCli = async (argv: string[], world: World): Promise<number> => {
  const { terminal } = world;
  let exit: number = exitCodes.ok.code;
  const json = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined).includes('--json');

  const declare: Declare = <O extends object>(
    parent: Command,
    spec: string,
    about: string,
    load: () => Promise<Run<O>>,
  ) => {
    const command = parent.command(spec).description(about);
    command.option('--json', 'one JSON value per line on stdout; errors as JSON on stderr');
    command.action(async () => {
      // processedArgs holds variadic arguments as arrays; a missing optional one is undefined.
      const args = command.processedArgs.flat().filter((a): a is string => typeof a === 'string');
      const run = await load();
      exit = exitCodes[await run(contextOf(world, json), command.opts<O & Record<string, unknown>>(), args)].code;
    });
    return command;
  };

  const program = new Command('drover')
    .description('Runs a fleet of CLI coding agents. The server: npm start. Exit codes: docs/cli.md.')
    .exitOverride()
    .version(world.version)
    .option('--json', 'one JSON value per line on stdout; errors as JSON on stderr')
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err, outputError: () => {} })
    .showSuggestionAfterError(true)
    .enablePositionalOptions();

  declare(
    program,
    'start',
    'start server, runner and holder here, in the foreground (as npm start)',
    async () => (await import('./commands/start.ts')).start,
  );
  declare(
    program,
    'runner',
    'start a runner for DROVER_SERVER_URL with DROVER_RUNNER_TOKEN',
    async () => (await import('./commands/start.ts')).startRunner,
  );
  agentCommands(program, declare);
  credsCommands(program, declare);
  keysCommands(program, declare);

  declare(
    program,
    'run <agent> [message...]',
    'give an agent work and follow it; "-" or a pipe: the message from stdin',
    async () => (await import('./commands/run.ts')).run,
  )
    .option('--async', 'do not wait: print the id')
    .option('--timeout <seconds>', 'how long it may run', whole('--timeout'))
    .option('--wait <seconds>', 'how long to wait here; it goes on under its id', whole('--wait'))
    .option('--chat', 'a turn in the main conversation of the agent, not a task of its own')
    .option('--session <id>', 'a turn in this chat session')
    .option('--resume <id>', 'go on from this session of the CLI')
    .option('--model <model>', 'another model for this run')
    .option('--max-turns <n>', 'turns at most', whole('--max-turns'))
    .option('--system-prompt <text>', 'added instructions for this run')
    .option('--allow-tool <tool>', 'a tool it may use, instead of the list of the agent; again for more', collect)
    .option('--key <key>', 'idempotency key: the same key and message is the same execution');

  declare(
    program,
    'ps',
    'what runs, what waits and why, the last endings',
    async () => (await import('./commands/ps.ts')).ps,
  )
    .option('--agent <name>', 'of this agent only')
    .option('--limit <n>', 'endings to show (default: 10)', whole('--limit'));
  declare(
    program,
    'logs <id>',
    'the transcript of an execution',
    async () => (await import('./commands/logs.ts')).logs,
  ).option('-f, --follow', 'go on until it ends');
  declare(
    program,
    'why <id>',
    'why an execution waits, waited, was tried again or ended',
    async () => (await import('./commands/why.ts')).why,
  );
  declare(
    program,
    'diff <id>',
    'what an execution changed in its workspace',
    async () => (await import('./commands/diff.ts')).diff,
  );
  declare(
    program,
    'cancel <id>',
    'stop an execution, or take it out of the queue',
    async () => (await import('./commands/cancel.ts')).cancel,
  ).option('--reason <text>', 'kept with it');
  declare(
    program,
    'pause',
    'start nothing new; what runs goes on',
    async () => (await import('./commands/pause.ts')).pause,
  )
    .option('--agent <name>', 'this agent only')
    .option('--provider <name>', 'work for this provider only (drover incidents names them)')
    .option('--wait', 'return when nothing runs any more');
  declare(
    program,
    'resume [id] [message...]',
    'go on after a pause; with an id: go on where that execution stopped, in its session and its kept tree',
    async () => (await import('./commands/resume.ts')).resume,
  )
    .option('--agent <name>', 'this agent only')
    .option('--provider <name>', 'work for this provider only; with an open incident a probe goes at once')
    .option('--async', 'with an id: do not wait, print the new id')
    .option('--key <key>', 'with an id: idempotency key');
  declare(
    program,
    'incidents',
    'shared troubles of a provider: what they hold up, and the next probe',
    async () => (await import('./commands/incidents.ts')).incidents,
  ).option('--all', 'past ones too');
  operatorCommands(program, declare);
  dayCommands(program, declare);
  moneyCommands(program, declare);

  declare(
    program,
    'backup',
    'copy the store while work goes on, and verify the copy',
    async () => (await import('./commands/backup.ts')).backup,
  )
    .option('--keep <n>', 'then delete older ones beyond the newest n', whole('--keep'))
    .option('--list', 'the backups there are');
  declare(
    program,
    'restore <backup>',
    'put a backup (its directory) in the place of the store; the server must not run',
    async () => (await import('./commands/backup.ts')).restore,
  );

  declare(
    program,
    'password',
    'a new password for the page, from stdin; the old one is not needed',
    async () => (await import('./commands/password.ts')).password,
  );

  declare(
    program,
    'diagnose [input]',
    'how a run ended, from evidence: a JSONL file, "-", a spool directory, or an id',
    async () => (await import('./commands/diagnose.ts')).diagnose,
  ).option('--human', 'sentences instead of JSON lines');
  declare(
    program,
    'rediagnose',
    'which stored verdicts this version would give otherwise; changes nothing',
    async () => (await import('./commands/rediagnose.ts')).rediagnose,
  ).requiredOption('--since <when>', 'of what ended since then: 24h, 7d, 2026-11-30');
  declare(
    program,
    'doctor',
    'check this installation: machine, server, invariants',
    async () => (await import('./commands/doctor.ts')).doctor,
  );
  declare(
    program,
    'demo',
    'five agents without key or Claude Code: a success, an OOM, a kill, a bad login, a limit',
    async () => (await import('./commands/demo.ts')).demo,
  ).option('--remove', 'take the demo agents away');

  try {
    await program.parseAsync(argv, { from: 'user' });
    return exit;
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) return tell(thrown, terminal, json);
    if (thrown.exitCode === 0) return exitCodes.ok.code;
    // `drover` or `drover agent` alone: the help went to stderr, and the call was still wrong.
    if (thrown.code === 'commander.help') return exitCodes.usage.code;
    const asked = commandOf(program, argv);
    return tell(
      thrown.code === 'commander.excessArguments'
        ? tooManyArguments(asked)
        : usage(sentence(thrown.message), `See ${pathOf(asked)} --help.`),
      terminal,
      json,
    );
  }
};

/** The command that the words name, as far as they name one. */
const commandOf = (program: Command, argv: string[]): Command => {
  let found = program;
  for (const word of argv.filter((w) => !w.startsWith('-'))) {
    const next = found.commands.find((c) => c.name() === word || c.aliases().includes(word));
    if (next === undefined) break;
    found = next;
  }
  return found;
};
const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

/** The words themselves are not repeated: one of them may be a secret that was meant for stdin. */
const tooManyArguments = (command: Command) => {
  const path = pathOf(command);
  if (command.commands.length > 0)
    return usage(
      `${path} has no such command. It has ${command.commands.map((c) => c.name()).join(', ')}.`,
      `See ${path} --help.`,
    );
  const takes = command.registeredArguments.map((a) => a.name().toUpperCase()).join(' ') || 'no argument';
  return usage(
    `Too many arguments: ${path} takes ${takes}.`,
    path === 'drover creds add'
      ? 'A secret comes on stdin: printenv ANTHROPIC_API_KEY | drover creds add NAME. On the command line others can read it, and the history of the shell keeps it.'
      : `See ${path} --help.`,
  );
};

const sentence = (message: string): string => {
  const text = message.replace(/^error: /, '').replaceAll('\n', ' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.)?]$/.test(text) ? '' : '.'}`;
};

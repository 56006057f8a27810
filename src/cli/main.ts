/**
 * The entry of the command line: builds the world from this process and runs one command. The only file of the CLI that
 * touches process, configuration and clock.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../client/pause.ts';
import { environmentWith, readConfig } from '../config.ts';
import { version } from '../contract/version.ts';
import { programEnv, runnerArgs, serverArgs } from '../kernel/programs.ts';
import { connect } from './connection.ts';
import type { World } from './context.ts';
import { usage } from './failure.ts';
import { runCli } from './program.ts';
import { processTerminal } from './terminal.ts';

/** Both src/cli and dist/server lie two levels below the tree. */
const root = join(import.meta.dirname, '..', '..');

type Program = Parameters<World['become']>[0];

const programFile = (program: Program): string => {
  const source = {
    main: join('src', 'main.ts'),
    runner: join('src', 'runner', 'entry.ts'),
    restore: join('src', 'restore.ts'),
  }[program];
  const bundled = join(import.meta.dirname, `${program}.js`);
  return existsSync(bundled) ? bundled : join(root, source);
};

const world: World = {
  terminal: processTerminal(),
  config: readConfig,
  connect,
  cwd: process.cwd(),
  root,
  version,
  now: Date.now,
  pause,
  key: randomUUID,
  become: (program, more = []) => {
    const { execve } = process;
    if (execve === undefined)
      throw usage('This needs Node 24 on Linux or macOS.', `Or run: node ${programFile(program)}`);
    const args = program === 'runner' ? runnerArgs : serverArgs;
    const env = environmentWith(programEnv(join(root, 'dist')));
    return execve.call(process, process.execPath, [process.execPath, ...args, programFile(program), ...more], env);
  },
};

const code = await runCli(process.argv.slice(2), world);
// A pipe takes its time: what was written is handed over before the process leaves, and open sockets do not keep it.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));

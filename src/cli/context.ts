/**
 * What every command is handed instead of reading it from the world: where to write, which server, time and chance. Built
 * in main.ts for a process and in tests by hand. Configuration and connection are made when first asked for, so that
 * `diagnose` and `--help` need neither.
 */
import type { Pause } from '../client/pause.ts';
import { type Config, ConfigError } from '../config.ts';
import type { Connection } from './connection.ts';
import { usage } from './failure.ts';
import type { Terminal } from './terminal.ts';

export interface World {
  terminal: Terminal;
  config(): Readonly<Config>;
  connect(config: Readonly<Config>, pause: Pause): Connection;
  cwd: string;
  /** The tree this program belongs to. */
  root: string;
  version: string;
  now(): number;
  pause: Pause;
  /** A fresh idempotency key. */
  key(): string;
  /** Replaces this process by one of our programs: same pid, same signals, nothing in between. */
  become(program: 'main' | 'runner' | 'restore', args?: string[]): never;
}

export interface Context extends World {
  json: boolean;
  connection(): Connection;
  /** The next connection looks the server up again: it may have come back at another address. */
  forget(): void;
}

export const contextOf = (world: World, json: boolean): Context => {
  let made: Connection | null = null;
  return {
    ...world,
    config: () => configOf(world),
    json,
    connection: () => {
      made ??= world.connect(configOf(world), world.pause);
      return made;
    },
    forget: () => {
      made = null;
    },
  };
};

const configOf = (world: World): Readonly<Config> => {
  try {
    return world.config();
  } catch (e) {
    if (e instanceof ConfigError) throw usage(e.message, 'See docs/configuration.md.');
    throw e;
  }
};

/** The result for a script: one JSON value on one line. */
export const printJson = (context: Context, value: unknown): void => context.terminal.out(`${JSON.stringify(value)}\n`);

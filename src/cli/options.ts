/** How options are read, and the shape in which commands are declared. Shared by program.ts and agent-commands.ts. */
import type { Command } from 'commander';
import type { Context } from './context.ts';
import type { ExitName } from './exit-codes.ts';
import { usage } from './failure.ts';

export type Run<O> = (context: Context, options: O, args: string[]) => Promise<ExitName>;
export type Declare = <O extends object>(
  parent: Command,
  spec: string,
  about: string,
  /** Imports the command's code: only when it is run. */
  load: () => Promise<Run<O>>,
) => Command;

/** Whole numbers only: `--timeout 10m` is told what it needs, not read as 10. */
export const whole = (flag: string) => (text: string) => {
  if (!/^\d{1,15}$/.test(text)) throw usage(`${flag} needs a whole number, not ${JSON.stringify(text)}.`);
  return Number(text);
};

export const collect = (text: string, before: string[] | undefined): string[] => [...(before ?? []), text];

/**
 * How the programs that the command line becomes (server, runner, restore) say why they cannot go on: the same words on stderr, the
 * same JSON, and the same exit codes as every other command. What is neither a setting nor a Fault is a bug, shown whole, and 1.
 */
import { ConfigError } from '../config.ts';
import { errors, Fault } from '../contract/errors.ts';
import { exitCodes, exitOfAnswer } from './exit-codes.ts';

/** What to say, whole, and the code to leave with. `name` stands before the words: `drover`, `drover runner`. */
export const programEnd = (name: string, error: unknown, json: boolean): { text: string; code: number } => {
  const { code, message, exit } = endOf(error);
  const text = json ? JSON.stringify({ error: { code, message, hints: [] } }) : `${name}: ${message}`;
  return { text: `${text}\n`, code: exitCodes[exit].code };
};

const endOf = (error: unknown): { code: string; message: string; exit: keyof typeof exitCodes } => {
  if (error instanceof ConfigError) return { code: 'usage', message: error.message, exit: 'usage' };
  if (error instanceof Fault)
    return { code: error.code, message: error.message, exit: exitOfAnswer(error.code, errors[error.code].status) };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: 'internal', message: `this is a bug.\n${text}`, exit: 'failed' };
};

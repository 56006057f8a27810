/**
 * `drover resume`: without an id the fleet (or an agent) goes on after a pause; with the id of an ended execution its work goes on:
 * a new execution in the same session, from the kept tree, followed like `drover run`. With the same key it is one.
 */
import type { Context } from '../context.ts';
import { printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { usage } from '../failure.ts';
import { resumeClaims, type Which } from './pause.ts';
import { follow } from './run.ts';

interface ResumeFlags extends Which {
  async?: boolean;
  key?: string;
}

export const resume = async (context: Context, flags: ResumeFlags, [id, ...words]: string[]): Promise<ExitName> => {
  if (id === undefined) return resumeClaims(context, flags);
  if (flags.agent !== undefined || flags.provider !== undefined)
    throw usage('--agent and --provider end a pause; an id goes on with its work. Give one of them.');
  const { api } = context.connection();
  const body = words.length === 0 ? {} : { message: words.join(' ') };
  const key = flags.key ?? context.key();
  const given = await api.resumeExecution(id, body, key);
  if (flags.async === true) {
    if (context.json) printJson(context, given);
    else context.terminal.out(`${given.execution_id}\n`);
    return 'ok';
  }
  return follow(context, given.execution_id, null);
};

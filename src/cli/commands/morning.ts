/** `drover morning`: the night at a glance, in the order in which a person wants to know it. */
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { plain } from '../terminal.ts';
import { sinceOf } from './rediagnose.ts';

export const morning = async (context: Context, options: { since?: string }): Promise<ExitName> => {
  const since = options.since === undefined ? null : sinceOf(options.since, context.now());
  const report = await context.connection().api.morning(since);
  if (context.json) printJson(context, report);
  else context.terminal.out(`${plain(report.text)}\n`);
  return 'ok';
};

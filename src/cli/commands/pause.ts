/** `drover pause` and `drover resume`, for the fleet or one agent: switches what is started, never what runs. */
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';

const said = (context: Context, body: unknown, sentence: string): ExitName => {
  if (context.json) printJson(context, body);
  else context.terminal.out(`${sentence}\n`);
  return 'ok';
};

export const pause = async (context: Context, options: { agent?: string }): Promise<ExitName> => {
  const { api } = context.connection();
  if (options.agent !== undefined)
    return said(
      context,
      await api.stopAgent(options.agent),
      `Agent ${options.agent} starts nothing new; what runs goes on.`,
    );
  return said(context, await api.pause(), 'The fleet starts nothing new; what runs goes on. To go on: drover resume.');
};

export const resume = async (context: Context, options: { agent?: string }): Promise<ExitName> => {
  const { api } = context.connection();
  if (options.agent !== undefined)
    return said(context, await api.startAgent(options.agent), `Agent ${options.agent} takes work again.`);
  return said(context, await api.resume(), 'The fleet goes on.');
};

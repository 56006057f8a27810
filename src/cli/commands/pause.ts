/** `drover pause` and `drover resume`, for the fleet, one agent or one provider: switches what is started, never what runs. */
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { usage } from '../failure.ts';

interface Which {
  agent?: string;
  provider?: string;
}
const one = ({ agent, provider }: Which): void => {
  if (agent !== undefined && provider !== undefined) throw usage('Name an agent or a provider, not both.');
};

const said = (context: Context, body: unknown, sentence: string): ExitName => {
  if (context.json) printJson(context, body);
  else context.terminal.out(`${sentence}\n`);
  return 'ok';
};

export const pause = async (context: Context, options: Which): Promise<ExitName> => {
  one(options);
  const { api } = context.connection();
  if (options.provider !== undefined)
    return said(
      context,
      await api.pauseProvider(options.provider, 'pause'),
      `Nothing new starts on ${options.provider}; what runs goes on. To go on: drover resume --provider ${options.provider}.`,
    );
  if (options.agent !== undefined)
    return said(
      context,
      await api.stopAgent(options.agent),
      `Agent ${options.agent} starts nothing new; what runs goes on.`,
    );
  return said(context, await api.pause(), 'The fleet starts nothing new; what runs goes on. To go on: drover resume.');
};

export const resume = async (context: Context, options: Which): Promise<ExitName> => {
  one(options);
  const { api } = context.connection();
  if (options.provider !== undefined)
    return said(context, await api.pauseProvider(options.provider, 'resume'), `Work for ${options.provider} goes on.`);
  if (options.agent !== undefined)
    return said(context, await api.startAgent(options.agent), `Agent ${options.agent} takes work again.`);
  return said(context, await api.resume(), 'The fleet goes on.');
};

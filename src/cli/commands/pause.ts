/** `drover pause` and `drover resume`, for the fleet, one agent or one provider: switches what is started, never what runs. */
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { usage } from '../failure.ts';

export interface Which {
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

/** Looked at again after this; an event stream would be no earlier for a person and one more thing to break. */
const lookAgainMs = 1_000;

const untilNothingRuns = async (context: Context, agent?: string): Promise<void> => {
  const { api } = context.connection();
  for (let told = -1; ; ) {
    const fleet = await api.limits();
    const part = agent === undefined ? fleet : fleet.agents.find((a) => a.agent_name === agent);
    const live = (part?.running ?? 0) + (part?.waiting ?? 0);
    if (live === 0) return;
    if (live !== told && !context.json) context.terminal.err(`${live} still ${live === 1 ? 'runs' : 'run'}\n`);
    told = live;
    await context.pause(lookAgainMs);
  }
};

export const pause = async (context: Context, options: Which & { wait?: boolean }): Promise<ExitName> => {
  one(options);
  if (options.wait && options.provider !== undefined)
    throw usage('--wait counts what runs in the fleet or of one agent, not by provider.');
  const done = await holdBack(context, options);
  if (options.wait) await untilNothingRuns(context, options.agent);
  return done;
};

const holdBack = async (context: Context, options: Which): Promise<ExitName> => {
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
      `Agent ${options.agent} takes no new work; what runs goes on, what waits is kept. To go on: drover resume --agent ${options.agent}.`,
    );
  return said(context, await api.pause(), 'The fleet starts nothing new; what runs goes on. To go on: drover resume.');
};

export const resumeClaims = async (context: Context, options: Which): Promise<ExitName> => {
  one(options);
  const { api } = context.connection();
  if (options.provider !== undefined)
    return said(context, await api.pauseProvider(options.provider, 'resume'), `Work for ${options.provider} goes on.`);
  if (options.agent !== undefined)
    return said(context, await api.startAgent(options.agent), `Agent ${options.agent} takes work again.`);
  return said(context, await api.resume(), 'The fleet goes on.');
};

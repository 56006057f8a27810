/**
 * `start` and `runner`: this process becomes the program. No parent stands between it and its signals, and its exit code is
 * its own. `npm start` runs the same file.
 */
import { serverUrl } from '../connection.ts';
import type { Context } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { usage } from '../failure.ts';

export const start = async (context: Context): Promise<ExitName> =>
  context.become('main', context.json ? ['--json'] : []);

export const startRunner = async (context: Context): Promise<ExitName> => {
  const config = context.config();
  if (config.runnerToken === null)
    throw usage(
      'A runner of its own needs DROVER_RUNNER_TOKEN.',
      `Enrol this host and take the token of the answer: POST ${serverUrl(config)}/api/runners {"name": "this-host"}`,
      'The runner of `npm start` needs none.',
    );
  return context.become('runner', context.json ? ['--json'] : []);
};

/** `drover emergency-stop`: asks first, because what runs loses its turn; what it had done is kept, as at every ending. */
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { usage } from '../failure.ts';

export const emergencyStop = async (context: Context, o: { yes?: boolean; reason?: string }): Promise<ExitName> => {
  const { terminal } = context;
  if (o.yes !== true) {
    if (!terminal.inIsTty) throw usage('This ends all that runs. Without a terminal to ask at, say --yes.');
    terminal.err('This ends all that runs, starts nothing new and holds all schedules. Type stop to do it: ');
    if ((await firstLine(terminal.stdin)).trim() !== 'stop') {
      terminal.err('Nothing was done.\n');
      return 'usage';
    }
  }
  const { body } = await context.connection().api.request<{ message: string }>('/api/ops/emergency-stop', {
    method: 'POST',
    json: { reason: o.reason ?? null },
  });
  if (context.json) printJson(context, body);
  else terminal.out(`${body.message}\nGo on: drover resume; drover schedule resume\n`);
  return 'ok';
};

const firstLine = async (input: AsyncIterable<Buffer | string>): Promise<string> => {
  let typed = '';
  for await (const part of input) {
    typed += part.toString();
    if (typed.includes('\n')) break;
  }
  return typed.split('\n')[0]!;
};

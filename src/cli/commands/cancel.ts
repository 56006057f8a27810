/** `drover cancel ID`: what runs is stopped by its runner, what waits never starts, what has ended stays as it ended. */
import type { TerminateBody } from '../../client/wire.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';

const words: Record<TerminateBody['status'], string> = {
  terminated: 'It is being stopped.',
  cancelled_while_queued: 'It was taken out of the queue and never started.',
  already_finished: 'It had ended before; nothing was changed.',
};

export const cancel = async (context: Context, options: { reason?: string }, [id]: string[]): Promise<ExitName> => {
  const { api } = context.connection();
  const row = await api.execution(id!);
  const body = await api.terminate(row.id, options.reason ?? 'drover cancel');
  if (context.json) printJson(context, { execution_id: row.id, ...body });
  else context.terminal.out(`${words[body.status] ?? body.status}\n`);
  return 'ok';
};

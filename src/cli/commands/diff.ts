/** `drover diff ID`: what the last attempt of an execution changed in its workspace, and where the whole of it is kept. */
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { plain } from '../terminal.ts';

interface DiffBody {
  ref: string | null;
  diff: string | null;
  truncated: boolean;
  note: string | null;
}

export const diff = async (context: Context, _options: object, args: string[]): Promise<ExitName> => {
  const { terminal } = context;
  const path = `/api/executions/${encodeURIComponent(args[0]!)}/diff`;
  const { body } = await context.connection().api.request<DiffBody>(path);
  if (context.json) printJson(context, body);
  else {
    if (body.diff !== null) terminal.out(plain(body.diff));
    const cut = body.truncated ? ' (the diff is cut here, the ref has all of it)' : '';
    terminal.err(body.note === null ? `kept as ${body.ref}${cut}\n` : `${plain(body.note)}\n`);
  }
  return 'ok';
};

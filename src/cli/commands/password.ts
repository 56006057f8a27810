/** `drover password`: a new password for the page, also when the old one is forgotten. It comes on stdin and nowhere else. */
import { text } from 'node:stream/consumers';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { usage } from '../failure.ts';

export const password = async (context: Context): Promise<ExitName> => {
  const { terminal } = context;
  if (terminal.inIsTty)
    throw usage('The password is read from stdin.', 'read -rs P && printf %s "$P" | drover password');
  const fresh = (await text(terminal.stdin as AsyncIterable<Buffer>)).replace(/\r?\n$/, '');
  if (fresh === '') throw usage('Nothing came on stdin.', 'Is the variable or the file empty?');
  await context.connection().api.setPassword(fresh);
  if (context.json) printJson(context, { changed: true });
  else terminal.out('The password is changed, and every session of the page has ended: sign in again.\n');
  return 'ok';
};

/**
 * `drover chat AGENT`: each line is a turn of one session, followed like a run; the session stays when this ends. A pipe is a
 * conversation too: one turn a line. Ctrl-C in a turn cancels that turn; at the prompt it ends the chat.
 */
import type { Context } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { CliFailure } from '../failure.ts';
import { run } from './run.ts';

export const chat = async (
  context: Context,
  o: { session?: string; continue?: string },
  [agent]: string[],
): Promise<ExitName> => {
  const { terminal } = context;
  // Before the first line is typed: a name that is wrong is told at once.
  await context.connection().api.agent(agent!);
  const session = o.session ?? (o.continue === undefined ? undefined : await sessionOf(context, o.continue));
  const prompt = () => {
    if (terminal.inIsTty) terminal.err(terminal.paint('err', 'bold', `${agent}> `));
  };
  if (terminal.inIsTty) terminal.err('One line is one turn. End with Ctrl-D or /exit.\n');
  prompt();
  let last: ExitName = 'ok';
  for await (const line of lines(terminal.stdin)) {
    const words = line.trim();
    if (words === '/exit') break;
    if (words !== '')
      last = await run(context, session === undefined ? { chat: true } : { session }, [
        agent!,
        words === '-' ? ' -' : line,
      ]);
    prompt();
  }
  if (terminal.inIsTty) terminal.err('\n');
  return last;
};

const sessionOf = async (context: Context, executionId: string): Promise<string> => {
  const row = await context.connection().api.execution(executionId);
  if (row.session_id != null) return row.session_id;
  throw new CliFailure('not_found', `Execution ${executionId} has no session to go on from.`);
};

async function* lines(input: AsyncIterable<Buffer | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const part of input) {
    rest += typeof part === 'string' ? part : decoder.decode(part, { stream: true });
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
      yield rest.slice(0, end);
      rest = rest.slice(end + 1);
    }
  }
  if (rest !== '') yield rest;
}

/** `drover notify …`: where alerts and questions are sent. Secrets come on stdin and nowhere else: argv is read by others. */
import { text } from 'node:stream/consumers';
import type { NotifyFormat, Severity } from '../../contract/operator.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { usage } from '../failure.ts';
import { age } from '../show/durations.ts';
import { table } from '../show/table.ts';
import { oneLine } from '../terminal.ts';

export const show = async (context: Context): Promise<ExitName> => {
  const { terminal } = context;
  const body = await context.connection().api.notifications();
  if (context.json) {
    printJson(context, body);
    return 'ok';
  }
  terminal.out(
    body.configured
      ? `${body.url} as ${body.format}, ${body.signed ? 'signed' : 'not signed'}, from severity ${body.min_severity} on.\n`
      : 'Nobody is notified. drover notify set URL --secret-from-stdin\n',
  );
  if (body.deliveries.length > 0)
    terminal.out(
      table(
        terminal,
        ['ID', 'STATE', 'TRIES', 'RAISED', 'ABOUT', 'LAST ERROR'],
        body.deliveries.map((d) => [
          d.id,
          { text: d.state, colour: d.state === 'sent' ? 'green' : d.state === 'waiting' ? 'yellow' : 'red' },
          String(d.attempts),
          `${age(d.created_at, context.now())} ago`,
          oneLine(d.title, 60),
          d.last_error ?? '–',
        ]),
      ),
    );
  return 'ok';
};

interface SetFlags {
  secretFromStdin?: boolean;
  minSeverity?: Severity;
  format?: NotifyFormat;
}

export const set = async (context: Context, flags: SetFlags, [url]: string[]): Promise<ExitName> => {
  const { terminal } = context;
  const wanted = [url === '-' && 'address', flags.secretFromStdin && 'secret'].filter((w) => typeof w === 'string');
  const lines = wanted.length === 0 ? [] : await linesOf(context, wanted);
  const body = await context.connection().api.setNotifications({
    url: url === '-' ? lines.shift()! : url!,
    ...(flags.secretFromStdin && { secret: lines.shift()! }),
    format: flags.format ?? 'json',
    min_severity: flags.minSeverity ?? 'normal',
  });
  if (context.json) printJson(context, body);
  else terminal.out(`Notifications go to ${body.url}. Try it: drover notify test\n`);
  return 'ok';
};

/** One line each, in the order in which they are named. */
const linesOf = async ({ terminal }: Context, wanted: string[]): Promise<string[]> => {
  const what = wanted.join(', then the ');
  if (terminal.inIsTty)
    throw usage(
      `The ${what} is read from stdin.`,
      'printenv NAME_OF_VARIABLE | drover notify set URL --secret-from-stdin',
    );
  const lines = (await text(terminal.stdin as AsyncIterable<Buffer>))
    .split('\n')
    .map((l) => l.trim())
    .filter((l) => l !== '');
  if (lines.length !== wanted.length)
    throw usage(`stdin needs ${wanted.length === 1 ? 'one line' : 'two lines'}: the ${what}; it had ${lines.length}.`);
  return lines;
};

export const test = async (context: Context): Promise<ExitName> => {
  const answer = await context.connection().api.testNotifications();
  if (context.json) printJson(context, answer);
  else if (answer.delivered) context.terminal.out(`Taken: the receiver answered ${answer.status}.\n`);
  else context.terminal.err(`Not taken: the receiver ${answer.error}.\n`);
  return answer.delivered ? 'ok' : 'provider';
};

export const off = async (context: Context): Promise<ExitName> => {
  const answer = await context.connection().api.stopNotifications();
  if (context.json) printJson(context, answer);
  else context.terminal.out(`${answer.message}\n`);
  return 'ok';
};

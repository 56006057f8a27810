/** `drover inbox …`: what needs a person, most urgent first, and the answer to it. */
import type { OperatorItemBody } from '../../client/wire.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { CliFailure, usage } from '../failure.ts';
import { age } from '../show/durations.ts';
import { plain } from '../terminal.ts';

const urgency = { high: 0, normal: 1, low: 2 } as const;
/** Somebody waits for an answer; an alert waits for nobody. */
const waits = (item: OperatorItemBody): number => (item.kind === 'alert' ? 1 : 0);
const mostUrgentFirst = (a: OperatorItemBody, b: OperatorItemBody): number =>
  urgency[a.priority] - urgency[b.priority] || waits(a) - waits(b) || (a.last_at < b.last_at ? 1 : -1);

export const list = async (context: Context, options: { all?: boolean }): Promise<ExitName> => {
  const { terminal } = context;
  const items = (await context.connection().api.operatorItems(options.all)).sort(mostUrgentFirst);
  if (context.json) printJson(context, items);
  else if (items.length === 0) terminal.out(options.all ? 'Nothing was ever raised.\n' : 'Nothing needs you.\n');
  else for (const item of items) terminal.out(shown(context, item));
  return 'ok';
};

const shown = (context: Context, item: OperatorItemBody): string => {
  const { paint } = context.terminal;
  const times = item.count > 1 ? ` (${item.count} times)` : '';
  const status = item.status === 'open' ? '' : ` [${item.status}]`;
  const head = `${item.kind}: ${plain(item.title)}${times}${status}`;
  const about = `  item ${item.id} · ${item.agent_name ?? 'the fleet'} · ${age(item.last_at, context.now())} ago`;
  const lines = [
    paint('out', item.priority === 'high' ? 'red' : 'yellow', head),
    paint('out', 'dim', about),
    ...item.evidence.map((e) => `  ${plain(e).replaceAll('\n', '\n  ')}`),
    ...answerLines(item),
  ];
  return `${lines.join('\n')}\n`;
};

const answerLines = (item: OperatorItemBody): string[] => {
  if (item.answer !== null)
    return [
      `  ${item.answered_by ?? 'somebody'}: ${plain(item.answer)}${item.note === null ? '' : ` (${plain(item.note)})`}`,
    ];
  if (item.status === 'closed') return [];
  if (item.kind === 'alert') {
    const seen = item.status === 'open' ? [`seen: drover inbox ack ${item.id}`] : [];
    const ran = item.execution_id === null ? [] : [`more: drover why ${item.execution_id}`];
    return [...ran, ...seen].map((line) => `  ${line}`);
  }
  if (item.kind === 'approval') return [`  drover inbox approve ${item.id}   or   drover inbox deny ${item.id}`];
  const offered = item.options.length === 0 ? [] : [`  offered: ${item.options.map((o) => plain(o)).join(' | ')}`];
  return [...offered, `  drover inbox answer ${item.id} TEXT`];
};

const give = async (context: Context, id: string, given: { answer: string; note?: string }): Promise<ExitName> => {
  const item = await context.connection().api.respond(id, given);
  if (context.json) printJson(context, item);
  else context.terminal.out(`${whatFollows(item)}\n`);
  return 'ok';
};

const whatFollows = (item: OperatorItemBody): string => {
  const agent = item.agent_name ?? 'the agent';
  const note = item.delivery_note === null ? '' : ` (${plain(item.delivery_note)})`;
  switch (item.delivery) {
    case 'returned':
      return `Answered: ${agent} has it.`;
    case 'resumed':
      return `Answered: ${agent} goes on with it as execution ${item.answer_execution_id}${note}.`;
    case 'pending':
      return item.delivery_note === null
        ? `Answered: ${agent} gets it from its run, or as a turn when that has ended.`
        : `Answered, and kept: it is given when it can be${note}.`;
    case 'failed':
      return `Answered, but it cannot be given${note}.`;
    default:
      return 'Answered.';
  }
};

export const answer = async (context: Context, _: object, [id, ...words]: string[]): Promise<ExitName> => {
  const item = await context.connection().api.operatorItem(id!);
  if (item.kind === 'approval')
    throw usage(`${id} is an approval.`, `drover inbox approve ${id}`, `drover inbox deny ${id} --note TEXT`);
  return give(context, id!, { answer: await textOf(context, id!, words.join(' ')) });
};

const textOf = async (context: Context, id: string, given: string): Promise<string> => {
  const { terminal } = context;
  if (given !== '' && given !== '-') return given;
  if (terminal.inIsTty) throw usage('There is no answer.', `drover inbox answer ${id} TEXT, or pipe it`);
  const parts: Buffer[] = [];
  for await (const part of terminal.stdin) parts.push(Buffer.from(part));
  const text = Buffer.concat(parts).toString('utf8').trim();
  if (text === '') throw usage('The answer on stdin is empty.');
  return text;
};

const decide =
  (decision: 'approve' | 'deny') =>
  async (context: Context, options: { note?: string }, [id]: string[]): Promise<ExitName> => {
    const item = await context.connection().api.operatorItem(id!);
    if (item.kind !== 'approval')
      throw new CliFailure('usage', `${id} asks for no approval; it is a ${item.kind}.`, [
        item.kind === 'question' ? `drover inbox answer ${id} TEXT` : `drover inbox ack ${id}`,
      ]);
    return give(context, id!, { answer: decision, note: options.note });
  };
export const approve = decide('approve');
export const deny = decide('deny');

export const acknowledge = async (context: Context, _: object, [id]: string[]): Promise<ExitName> => {
  const item = await context.connection().api.acknowledge(id!);
  if (context.json) printJson(context, item);
  else
    context.terminal.out(
      item.kind === 'alert'
        ? 'Marked as seen. It comes back when it still goes on in an hour, or gets worse.\n'
        : 'Marked as seen. It still waits for an answer.\n',
    );
  return 'ok';
};

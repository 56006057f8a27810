/** `drover inbox`: what needs a person, most urgent first; `--ack ID` says that it was seen. */
import type { OperatorItemBody } from '../../client/wire.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { age } from '../show/durations.ts';
import { plain } from '../terminal.ts';

const urgency = { high: 0, normal: 1, low: 2 } as const;
const newestFirst = (a: OperatorItemBody, b: OperatorItemBody) =>
  urgency[a.priority] - urgency[b.priority] ||
  (a.created_at && b.created_at ? (a.created_at < b.created_at ? 1 : -1) : 0);

export const inbox = async (context: Context, options: { ack?: string }): Promise<ExitName> => {
  const { terminal } = context;
  const { api } = context.connection();
  if (options.ack !== undefined) {
    const item = await api.acknowledge(options.ack);
    if (context.json) printJson(context, item);
    else terminal.out('Marked as seen.\n');
    return 'ok';
  }
  const items = (await api.operatorItems()).sort(newestFirst);
  if (context.json) {
    printJson(context, items);
    return 'ok';
  }
  if (items.length === 0) terminal.out('Nothing needs you.\n');
  for (const item of items) {
    const times = item.count !== undefined && item.count > 1 ? ` (${item.count} times)` : '';
    const head = `${item.kind}: ${plain(item.title)}${times}`;
    terminal.out(
      `${terminal.paint('out', item.priority === 'high' ? 'red' : 'yellow', head)}\n` +
        terminal.paint(
          'out',
          'dim',
          `  item ${item.id} · ${age(item.created_at, context.now())} ago${item.execution_id === null ? '' : ` · drover why ${item.execution_id}`}`,
        ) +
        `\n${item.evidence.map((e) => `  ${plain(e)}\n`).join('')}`,
    );
  }
  if (items.length > 0) terminal.out('Seen? drover inbox --ack ITEM\n');
  return 'ok';
};

/** What a notification says: plain JSON, or the shape that Slack and its kin take. Pure. */
import type { ItemEdge, NotifyFormat, OperatorItemRow } from '../contract/operator.ts';
import { itemBody } from './item-body.ts';

export interface Notification {
  /** The same at every try of one notification: by it a receiver knows a repetition. */
  id: string;
  event: `operator.${ItemEdge | 'test'}`;
  at: number;
  item: OperatorItemRow;
}

export const notificationBody = (n: Notification, format: NotifyFormat): string =>
  JSON.stringify(format === 'slack' ? { text: slackText(n) } : jsonBody(n));

const jsonBody = ({ id, event, at, item }: Notification) => ({
  id,
  event,
  at: new Date(at).toISOString(),
  item: itemBody(item),
});

const edges: Record<Notification['event'], string> = {
  'operator.opened': '',
  'operator.reopened': ' (goes on)',
  'operator.escalated': ' (got worse)',
  'operator.test': ' (a test)',
};

/** Slack refuses texts over 40,000 characters, and nobody reads beyond this. */
const evidenceChars = 1_000;

const slackText = ({ event, item }: Notification): string => {
  const times = item.count > 1 ? `, ${item.count} times` : '';
  const lines = item.evidence.map((e) => `• ${escaped(e.slice(0, evidenceChars))}`);
  const how = item.kind === 'alert' ? `drover inbox ack ${item.id}` : answering(item);
  return [
    `*${escaped(item.title)}*`,
    `${item.kind}, ${item.priority}${times}${edges[event]}`,
    ...lines,
    `\`${how}\``,
  ].join('\n');
};

const answering = (item: OperatorItemRow): string =>
  item.kind === 'approval' ? `drover inbox approve ${item.id}` : `drover inbox answer ${item.id} TEXT`;

/** The three characters by which text could become a mention or a link. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * Operator items: what a person must see (`alert`) or answer (`question`, `approval`), and the notifications that tell of them.
 *
 *   open ⇄ acknowledged (it went on an hour later, or got worse) → answered | closed
 *
 * One live item per subject and `dedup_key`; the same thing again only counts up. An answer is `pending` until it reached who
 * asked: `returned` to the execution while it lives, else `resumed` as a turn in its session.
 */
import { z } from 'zod';

export const ItemKind = z.enum(['alert', 'question', 'approval']);
export type ItemKind = z.infer<typeof ItemKind>;
export const ItemStatus = z.enum(['open', 'acknowledged', 'answered', 'closed']);
export type ItemStatus = z.infer<typeof ItemStatus>;
export const severities = ['low', 'normal', 'high'] as const;
export const Severity = z.enum(severities);
export type Severity = z.infer<typeof Severity>;
export const AnswerDelivery = z.enum(['pending', 'returned', 'resumed', 'failed']);
export type AnswerDelivery = z.infer<typeof AnswerDelivery>;

export const severityOf = (s: Severity): number => severities.indexOf(s);

export const itemLimits = {
  /** More would bury what matters. The last place is kept for one item that counts what is not listed. */
  openPerAgent: 25,
  /** Of them, questions and approvals: an agent that asks and asks must not hide its own alerts. */
  questionsPerAgent: 15,
  titleChars: 500,
  detailsChars: 10_000,
  options: 10,
  optionChars: 200,
  answerChars: 100_000,
  /** An acknowledged alert that goes on this long after it was seen opens again: what was done about it did not help. */
  reopenMs: 3_600_000,
  /** An alert that tells of one event, not of a state, is closed by a success only after this long without another. */
  eventQuietMs: 86_400_000,
  /** This many endings of one cause in a row, within the window, are a trouble of their own. */
  streak: 3,
  streakWindowMs: 86_400_000,
} as const;

/** The item that says that notifications do not arrive. */
export const unreachedKey = 'notifications_given_up';

/** The item that says that nobody runs anything. */
export const noRunnerKey = 'no_runner';

export const approvalAnswers = ['approve', 'deny'] as const;

export interface NewOperatorItem {
  id: string;
  kind: ItemKind;
  /** One live item per (agent, dedup_key). */
  dedup_key: string;
  priority: Severity;
  title: string;
  evidence: string[];
  /** How long it must be quiet before a later success of the agent closes it: 0 = at once; null or left out = never. */
  quiet_ms?: number | null;
  /** Said of the fleet, not of the agent. */
  fleet?: boolean;
  /** Raised again, its evidence joins what was there instead of replacing it. */
  joins?: boolean;
}

export interface OperatorItemRow extends Omit<NewOperatorItem, 'fleet' | 'joins' | 'quiet_ms'> {
  agent_name: string | null;
  execution_id: string | null;
  status: ItemStatus;
  count: number;
  /** Offered by who asked; any other text is an answer too, but not to an approval. */
  options: string[];
  answer: string | null;
  /** What was said with an approval or a denial. */
  note: string | null;
  answered_by: string | null;
  delivery: AnswerDelivery | null;
  delivery_note: string | null;
  /** The turn by which the answer reached who asked. */
  answer_execution_id: string | null;
  session_id: string | null;
  created_at: number;
  updated_at: number;
  /** When it was raised last. */
  last_at: number;
  acknowledged_at: number | null;
}

export const NotifyFormat = z.enum(['json', 'slack']);
export type NotifyFormat = z.infer<typeof NotifyFormat>;

/** Where notifications go. `sealed` holds address and secret; `shown` is what people may read of the address. */
export interface NotifyTargetRow {
  format: NotifyFormat;
  min_severity: Severity;
  sealed: string;
  shown: string;
  signed: boolean;
  created_at: number;
  updated_at: number;
}

export const itemEdges = ['opened', 'reopened', 'escalated'] as const;
export type ItemEdge = (typeof itemEdges)[number];

export interface NotificationRow {
  id: number;
  item_id: string;
  edge: ItemEdge;
  /** The item as it was at the edge. */
  item: OperatorItemRow;
  state: 'waiting' | 'sent' | 'gave_up';
  attempts: number;
  last_error: string | null;
  created_at: number;
  created_steady: number;
  ended_at: number | null;
}

/**
 * The verbs about what a person must see or answer, and about telling them: a part of the page of verbs in store.ts, with the
 * same promises. Edges of items become notifications in the transaction that made them.
 */
import type { Refusal } from '../contract/errors.ts';
import type { ExecutionRequest } from '../contract/execution.ts';
import type {
  ItemStatus,
  NewOperatorItem,
  NotificationRow,
  NotifyTargetRow,
  OperatorItemRow,
} from '../contract/operator.ts';

export interface AskOperatorArgs {
  item: NewOperatorItem & { kind: 'question' | 'approval' };
  options: string[];
  agent: { id: string; name: string };
  execution_id: string | null;
  /** Set when the execution itself asks: it must be the token of its live attempt. */
  token: string | null;
}
/** An answer on its way, with what the turn that carries it goes on from. */
export interface AnswerDue {
  item: OperatorItemRow;
  options: ExecutionRequest['options'];
  timeout_s: number | null;
}

export interface OperatorWrites {
  put_operator_item: [
    { item: NewOperatorItem; agent_name: string | null; execution_id: string | null },
    OperatorItemRow,
  ];
  /** A question or approval of an agent; the same one again, while it waits, is the same item. */
  ask_operator: [AskOperatorArgs, { item: OperatorItemRow; created: boolean } | Refusal];
  /** The first answer stands: an answered or closed item is given back as it is. */
  answer_operator_item: [
    { id: string; status: 'acknowledged' | 'answered'; answer: string | null; note?: string | null; by: string },
    OperatorItemRow | null,
  ];
  /** The execution that asked comes for its answer while it lives (`token`: its own; null = its agent asks). Null = none to take. */
  take_answer: [{ id: string; token: string | null }, OperatorItemRow | null];
  /** What became of a pending answer; anything else has moved on already. */
  answer_delivered: [
    { id: string; delivery: 'pending' | 'resumed' | 'failed'; execution_id: string | null; note: string | null },
    OperatorItemRow | null,
  ];
  // -- notifications
  /** Null switches them off: what still waits is given up. */
  put_notify_target: [{ target: Omit<NotifyTargetRow, 'created_at' | 'updated_at'> | null }, { ok: true }];
  /** Due ones, held for this sender until `hold_ms` have passed. */
  take_notifications: [{ max: number; hold_ms: number }, { taken: NotificationRow[]; next_due: number | null }];
  /** `retry_at` is steady; null after a failure = given up. */
  notification_tried: [
    { id: number; ok: true } | { id: number; ok: false; error: string; retry_at: number | null },
    { ok: true },
  ];
}

export interface OperatorReads {
  /** `pending`: open, and questions that were seen but not answered. Null = all. */
  operator_items: [{ status: ItemStatus | 'pending' | null; limit: number }, OperatorItemRow[]];
  operator_item: [{ id: string }, OperatorItemRow | null];
  /** Answers that nobody came for, of executions that have ended. */
  answers_due: [{ id: string | null; limit: number }, AnswerDue[]];
  notify_target: [Record<string, never>, NotifyTargetRow | null];
  notifications: [{ limit: number }, NotificationRow[]];
}

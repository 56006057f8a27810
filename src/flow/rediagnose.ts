/**
 * A stored verdict computed again from its facts by this version (R5): what would be said otherwise. It reads and compares; the
 * record stays as it was told, since what followed from it (a retry, a switch, an alert) has happened. Pure.
 */
import { Facts } from '../contract/facts.ts';
import type { Verdict } from '../contract/verdict.ts';
import { diagnose } from '../outcome/diagnose.ts';
import type { Judged } from '../store/history-verbs.ts';

/** What other parts act on or a list shows; words and quotations change nothing. */
const judgement = [
  'cause',
  'switch_credential',
  'retryable',
  'confidence',
  'mechanism',
  'reset_at',
  'secondary',
] as const;
type Field = (typeof judgement)[number] | 'attention';
const words = ['message', 'evidence'] as const;

type Again =
  | { kind: 'same' | 'reworded' | 'unreadable' }
  | { kind: 'differs'; fields: Field[]; before: Verdict; after: Verdict };

export const again = (row: Judged['rows'][number]): Again => {
  const facts = Facts.safeParse(row.facts);
  if (!facts.success) return { kind: 'unreadable' };
  // The clock of the day it was judged: a reset that was told without a date means the same now as then.
  const after = diagnose(facts.data, { now: row.ended_at });
  const before = row.verdict;
  const differ = (a: unknown, b: unknown) => JSON.stringify(a ?? null) !== JSON.stringify(b ?? null);
  const fields: Field[] = judgement.filter((field) => differ(before[field], after[field]));
  if (differ(comparable(before), comparable(after))) fields.push('attention');
  if (fields.length > 0) return { kind: 'differs', fields, before, after };
  return { kind: words.some((field) => differ(before[field], after[field])) ? 'reworded' : 'same' };
};

/** The mode that the agent asked for that day, and what it was lent, are not among the facts. */
const comparable = (v: Verdict): string[] =>
  v.attention.filter((a) => a !== 'permission_mode_differs' && a !== 'login_differs').sort();

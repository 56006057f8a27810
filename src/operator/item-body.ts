/** An item as the outside reads it: in answers of the API and in notifications alike. */
import type { OperatorItemRow } from '../contract/operator.ts';

const iso = (ms: number): string => new Date(ms).toISOString();

export const itemBody = ({ priority, dedup_key: _, ...i }: OperatorItemRow) => ({
  ...i,
  priority,
  severity: priority,
  created_at: iso(i.created_at),
  updated_at: iso(i.updated_at),
  last_at: iso(i.last_at),
  acknowledged_at: i.acknowledged_at === null ? null : iso(i.acknowledged_at),
});

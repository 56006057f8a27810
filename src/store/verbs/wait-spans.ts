/**
 * What bound a lane, and from when to when: one span per change of reason, not per row, so that ten thousand waiting rows cost
 * nothing. When a queue budget ends, the spans laid over the time the row waited give the ms per reason (R13).
 */
import { sql } from 'kysely';
import type { WaitReason } from '../../contract/limits.ts';
import { admits } from '../claim/binding.ts';
import type { Head } from '../claim/order.ts';
import type { World } from '../claim/world.ts';
import type { Lane } from '../schema.ts';
import { statement } from '../statement.ts';
import type { ReadTx, Tx } from '../tx.ts';

interface Span {
  agent_id: string;
  class: Lane;
  from_at: number;
  reason: WaitReason;
}
const open = statement<object, Span>((db) =>
  db.selectFrom('wait_spans').select(['agent_id', 'class', 'from_at', 'reason']).where('to_at', 'is', null),
);
const end = statement<Omit<Span, 'reason'> & { to_at: number }, unknown>((db, s) =>
  db
    .updateTable('wait_spans')
    .set({ to_at: s.to_at })
    .where('agent_id', '=', s.agent_id)
    .where('class', '=', s.class)
    .where('from_at', '=', s.from_at),
);
const begin = statement<Span, unknown>((db, s) =>
  db
    .insertInto('wait_spans')
    .values({ agent_id: s.agent_id, class: s.class, from_at: s.from_at, to_at: sql.lit(null), reason: s.reason })
    .onConflict((c) =>
      c
        .columns(['agent_id', 'class', 'from_at'])
        .doUpdateSet((eb) => ({ reason: eb.ref('excluded.reason'), to_at: eb.ref('excluded.to_at') })),
    ),
);

/** Over all runners: what a lane's head waits for now; `turn` when nothing binds it. */
export const reasonOf = (w: World, head: Head): WaitReason => admits(w, head, w.runners).binds ?? 'turn';

/** Writes what changed since the last look. Costs one small read when nothing did. */
export const recordSpans = async (tx: Tx, w: World, heads: readonly Head[]): Promise<void> => {
  const before = new Map((await open(tx, {})).rows.map((s) => [`${s.class} ${s.agent_id}`, s]));
  const seen = new Set<string>();
  for (const head of heads) {
    const key = `${head.lane} ${head.agent_id}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const was = before.get(key);
    const reason = reasonOf(w, head);
    if (was?.reason === reason) continue;
    if (was && was.from_at < tx.at.steady) await end(tx, { ...was, to_at: tx.at.steady });
    await begin(tx, { agent_id: head.agent_id, class: head.lane, from_at: tx.at.steady, reason });
  }
  for (const [key, was] of before)
    if (!seen.has(key)) await end(tx, { ...was, to_at: Math.max(was.from_at, tx.at.steady) });
};

const over = statement<{ agent_id: string; class: Lane; from: number; to: number }, Span & { to_at: number | null }>(
  (db, s) =>
    db
      .selectFrom('wait_spans')
      .select(['agent_id', 'class', 'from_at', 'to_at', 'reason'])
      .where('agent_id', '=', s.agent_id)
      .where('class', '=', s.class)
      .where('from_at', '<', s.to)
      .where((eb) => eb.or([eb('to_at', 'is', null), eb('to_at', '>', s.from)])),
);

/** Adds to `ms` what bound the lane between two steady times; what no span covers counts for `rest`. */
export const overlay = async (
  tx: ReadTx,
  ms: Record<string, number>,
  stay: { agent_id: string; lane: Lane; from: number; to: number; rest: WaitReason },
): Promise<void> => {
  let covered = 0;
  for (const s of (await over(tx, { agent_id: stay.agent_id, class: stay.lane, from: stay.from, to: stay.to })).rows) {
    const part = Math.min(s.to_at ?? stay.to, stay.to) - Math.max(s.from_at, stay.from);
    if (part <= 0) continue;
    ms[s.reason] = (ms[s.reason] ?? 0) + part;
    covered += part;
  }
  const rest = stay.to - stay.from - covered;
  if (rest > 0) ms[stay.rest] = (ms[stay.rest] ?? 0) + rest;
};

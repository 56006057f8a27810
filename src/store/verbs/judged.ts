/**
 * Facts with the verdict they were once given, so that it can be computed again (R5). Two steps, each one range of an index: a
 * page of executions by the time they ended, then their attempts. Facts come as they are stored: an older version wrote them.
 */
import type { Verdict } from '../../contract/verdict.ts';
import type { ReadVerb } from '../tx.ts';

export const judged: ReadVerb<'judged'> = async (tx, { since, after, limit }) => {
  const ended = await tx.db
    .selectFrom('executions')
    .select(['id', 'agent_name', 'completed_at'])
    .where('completed_at', 'is not', null)
    .where((w) =>
      after === null
        ? w('completed_at', '>=', since)
        : w(w.refTuple('completed_at', 'id'), '>', w.tuple(after.at, after.id)),
    )
    .orderBy('completed_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  const last = ended.at(-1);
  if (last === undefined) return { rows: [], next: null };
  const rows = await tx.db
    .selectFrom('attempts')
    .innerJoin('attempt_facts', 'attempt_facts.attempt_id', 'attempts.id')
    .select(['attempts.id', 'attempts.execution_id', 'attempts.number', 'attempts.ended_at', 'attempts.verdict'])
    .select('attempt_facts.facts')
    .where(
      'attempts.execution_id',
      'in',
      ended.map((e) => e.id),
    )
    .where('attempts.verdict', 'is not', null)
    .execute();
  const of = (id: string) => rows.filter((r) => r.execution_id === id).sort((a, b) => a.number - b.number);
  return {
    rows: ended.flatMap((e) =>
      of(e.id).map((r) => ({
        execution_id: e.id,
        agent_name: e.agent_name,
        attempt_id: r.id,
        number: r.number,
        ended_at: r.ended_at,
        verdict: JSON.parse(r.verdict!) as Verdict,
        facts: JSON.parse(r.facts) as unknown,
      })),
    ),
    next: ended.length < limit ? null : { at: last.completed_at!, id: last.id },
  };
};

/** What ended between two times, counted for the morning report on the index of endings. */
import { type Selectable, sql } from 'kysely';
import type { MorningReport, MorningSending } from '../../contract/morning.ts';
import type { NightCounts } from '../morning-verbs.ts';
import type { Database } from '../schema.ts';
import { statement } from '../statement.ts';
import type { ReadVerb, WriteVerb } from '../tx.ts';

interface Span {
  from: number;
  to: number;
}
const endings = statement<Span, NightCounts['ended'][number]>((db, s) =>
  db
    .selectFrom('executions')
    .select(['agent_name', 'status', 'cause', sql<number>`count(*)`.as('n')])
    .select([
      sql<number>`sum(case when status = 'success' and attempt > 1 then 1 else 0 end)`.as('retried'),
      sql<number>`sum(case when status = 'success' and attempt > 1 and cli_session_id is not null then 1 else 0 end)`.as(
        'resumed',
      ),
      sql<number>`sum(parked)`.as('parked'),
    ])
    .where('completed_at', '>=', s.from)
    .where('completed_at', '<', s.to)
    .groupBy(['agent_name', 'status', 'cause']),
);
const switches = statement<Span, { id: string }>((db, s) =>
  db
    .selectFrom('executions')
    .innerJoin('attempts', 'attempts.execution_id', 'executions.id')
    .select('executions.id')
    .where('executions.completed_at', '>=', s.from)
    .where('executions.completed_at', '<', s.to)
    .where('executions.status', '=', sql.lit('success' as const))
    .groupBy('executions.id')
    .having(sql<boolean>`count(distinct attempts.credential_id) > 1`),
);
const spent = statement<Span, { all: number | null; good: number | null }>((db, s) =>
  db
    .selectFrom('executions')
    .innerJoin('attempts', 'attempts.execution_id', 'executions.id')
    .select([
      sql<number | null>`sum(attempts.cost_usd)`.as('all'),
      sql<
        number | null
      >`sum(case when executions.status = 'success' and attempts.number = executions.attempt then attempts.cost_usd end)`.as(
        'good',
      ),
    ])
    .where('executions.completed_at', '>=', s.from)
    .where('executions.completed_at', '<', s.to),
);

export const night: ReadVerb<'night'> = async (tx, span) => {
  const sums = (await spent(tx, span)).rows[0];
  return {
    ended: (await endings(tx, span)).rows.map((r) => ({
      ...r,
      n: Number(r.n),
      retried: Number(r.retried),
      resumed: Number(r.resumed),
      parked: Number(r.parked),
    })),
    switched: (await switches(tx, span)).rows.length,
    cost_usd: Number(sums?.all ?? 0),
    good_cost_usd: Number(sums?.good ?? 0),
  };
};

const waits = sql.lit('waiting' as const);

export const putMorningReport: WriteVerb<'put_morning_report'> = async (tx, { report }) => {
  const { day } = report;
  const known = tx.db.selectFrom('morning_reports').select('day').where('day', '=', day);
  if (await known.executeTakeFirst()) return { created: false };
  await tx.db
    .insertInto('morning_reports')
    .values({
      day,
      report: JSON.stringify(report),
      state: 'waiting',
      attempts: 0,
      last_error: null,
      created_at: tx.at.now,
      created_steady: tx.at.steady,
      due_steady: tx.at.steady,
    })
    .execute();
  return { created: true };
};

const sendingFrom = (r: Selectable<Database['morning_reports']>): MorningSending => ({
  day: r.day,
  report: JSON.parse(r.report) as MorningReport,
  attempts: r.attempts,
  created_at: r.created_at,
  created_steady: r.created_steady,
});

export const takeMorningReport: WriteVerb<'take_morning_report'> = async (tx, { hold_ms }) => {
  const due = await tx.db
    .selectFrom('morning_reports')
    .selectAll()
    .where('state', '=', waits)
    .where('due_steady', '<=', tx.at.steady)
    .orderBy('day')
    .limit(1)
    .executeTakeFirst();
  if (!due) return null;
  await tx.db
    .updateTable('morning_reports')
    .set({ due_steady: tx.at.steady + hold_ms })
    .where('day', '=', due.day)
    .execute();
  return sendingFrom(due);
};

export const morningReportTried: WriteVerb<'morning_report_tried'> = async (tx, { day, error, retry_at }) => {
  await tx.db
    .updateTable('morning_reports')
    .set((eb) => ({
      attempts: eb('attempts', '+', 1),
      last_error: error,
      state: error === null ? ('sent' as const) : retry_at === null ? ('gave_up' as const) : ('waiting' as const),
      ...(retry_at !== null && { due_steady: retry_at }),
    }))
    .where('day', '=', day)
    .where('state', '=', waits)
    .execute();
  return { ok: true };
};

export const morningSent: ReadVerb<'morning_sent'> = async (tx, { day }) =>
  (await tx.db.selectFrom('morning_reports').select('day').where('day', '=', day).executeTakeFirst()) !== undefined;

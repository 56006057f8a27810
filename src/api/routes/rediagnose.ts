/** Which stored verdicts this version would give otherwise: pages of comparisons, computed from stored facts. It changes nothing. */
import { z } from 'zod';
import { refuse } from '../../contract/errors.ts';
import { Verdict } from '../../contract/verdict.ts';
import { again } from '../../flow/rediagnose.ts';
import { isoOrNull, Refused, type RouteModule } from '../route.ts';

/** A verdict takes about a millisecond: others get their turn in between. */
const breathAfter = 10;

const Changed = z.object({
  execution_id: z.string(),
  agent_name: z.string(),
  attempt: z.number(),
  ended_at: z.string().nullable(),
  fields: z.array(z.string()),
  before: Verdict,
  after: Verdict,
});

export const rediagnoseRoutes: RouteModule = (deps) => async (app) => {
  app.get(
    '/api/rediagnose',
    {
      config: { needs: 'view' },
      schema: {
        tags: ['Work'],
        summary: 'Verdicts that this version would give otherwise, from stored facts; go on with after = next',
        querystring: z.object({
          since: z.string().max(40),
          after: z.string().max(200).optional(),
          limit: z.coerce.number().int().min(1).max(200).default(50),
        }),
        response: {
          200: z.object({
            looked_at: z.number(),
            reworded: z.number(),
            unreadable: z.number(),
            changed: z.array(Changed),
            next: z.string().nullable(),
          }),
        },
      },
    },
    async (request) => {
      const { limit } = request.query;
      const page = await deps.store.read('judged', {
        since: timeOf(request.query.since),
        after: request.query.after === undefined ? null : placeOf(request.query.after),
        limit,
      });
      const counts = { same: 0, differs: 0, reworded: 0, unreadable: 0 };
      const changed: z.infer<typeof Changed>[] = [];
      for (const [i, row] of page.rows.entries()) {
        if (i % breathAfter === breathAfter - 1) await deps.kernel.clock.sleep(0);
        const told = again(row);
        counts[told.kind]++;
        if (told.kind !== 'differs') continue;
        const { fields, before, after } = told;
        const { execution_id, agent_name, number: attempt } = row;
        changed.push({ execution_id, agent_name, attempt, ended_at: isoOrNull(row.ended_at), fields, before, after });
      }
      return {
        looked_at: page.rows.length,
        reworded: counts.reworded,
        unreadable: counts.unreadable,
        changed,
        next: page.next === null ? null : `${page.next.at}.${page.next.id}`,
      };
    },
  );
};

const field = (name: string, problem: string): Refused =>
  new Refused(refuse('invalid', `${name}: ${problem}.`, { details: [{ field: name, problem }] }));

const timeOf = (given: string): number => {
  const at = /^\d{4}-\d{2}-\d{2}/.test(given) ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(at)) throw field('since', 'needs a date or a time, such as 2026-11-30 or 2026-11-30T18:00:00Z');
  return at;
};

const placeOf = (given: string): { at: number; id: string } => {
  const m = /^(\d{1,15})\.([0-9A-Za-z_-]{1,100})$/.exec(given);
  if (!m) throw field('after', 'needs the next of the page before');
  return { at: Number(m[1]), id: m[2]! };
};

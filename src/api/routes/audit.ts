/** Who did what, filtered, page by page, and as a file. For owners: it names people. */
import { z } from 'zod';
import { csvLine } from '../../record/csv.ts';
import type { ReadVerbs } from '../../store/store.ts';
import { iso, type RouteModule } from '../route.ts';

const tags = ['People'];
const Row = z.object({
  id: z.string(),
  at: z.string(),
  by: z.string(),
  /** The name of a person, as it is now. */
  by_name: z.string().nullable(),
  action: z.string(),
  target: z.string(),
  data: z.record(z.string(), z.unknown()),
});
const When = z.iso
  .datetime({ offset: true })
  .transform((text) => Date.parse(text))
  .optional();
const Filters = z.object({
  /** `user:ID`, `agent:ID`, …, or the name of a person. */
  by: z.string().max(300).optional(),
  /** `schedule.create`, or `schedule` for all that was done to schedules. */
  action: z.string().max(100).optional(),
  target: z.string().max(1_000).optional(),
  since: When,
  until: When,
  before: z.string().max(100).optional(),
});
/** One file: what fits into a spreadsheet. */
const exportMost = 50_000;
const pageRows = 1_000;

type Entry = z.infer<typeof Row>;

export const auditRoutes: RouteModule = (deps) => async (app) => {
  const read = async (q: z.infer<typeof Filters>, limit: number): Promise<Entry[]> => {
    const users = await deps.store.read('users', {});
    const names = new Map(users.map((u) => [`user:${u.id}`, u.username]));
    const named = users.find((u) => u.username === q.by);
    const { before, by, ...filters } = q;
    const given: ReadVerbs['audit_log'][0] = {
      ...filters,
      limit,
      before: before ?? null,
      ...(by !== undefined && { by: named === undefined ? by : `user:${named.id}` }),
    };
    return (await deps.store.read('audit_log', given)).map((r) => ({
      ...r,
      at: iso(r.at),
      by_name: names.get(r.by) ?? null,
    }));
  };

  app.get(
    '/api/audit',
    {
      config: { needs: 'own' },
      schema: {
        tags,
        summary: 'Changes by people and keys, newest first; go on with before = the last id',
        querystring: Filters.extend({ limit: z.coerce.number().int().min(1).max(pageRows).default(100) }),
        response: { 200: z.array(Row) },
      },
    },
    async (request) => {
      const { limit, ...filters } = request.query;
      return read(filters, limit);
    },
  );

  app.get(
    '/api/audit/export',
    {
      config: { needs: 'own' },
      schema: {
        tags,
        summary: `The same as a file, CSV or JSON lines, at most ${exportMost} rows`,
        querystring: Filters.extend({ format: z.enum(['csv', 'json']).default('csv') }),
      },
    },
    async (request, reply) => {
      const { format, ...filters } = request.query;
      reply
        .type(format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8')
        .header('content-disposition', `attachment; filename="drover-audit.${format === 'csv' ? 'csv' : 'jsonl'}"`);
      const lines = format === 'csv' ? [csvLine(['id', 'at', 'by', 'by_name', 'action', 'target', 'data'])] : [];
      let before = filters.before;
      for (let n = 0; n < exportMost; ) {
        const page = await read({ ...filters, before }, pageRows);
        for (const r of page)
          lines.push(
            format === 'csv'
              ? csvLine([r.id, r.at, r.by, r.by_name, r.action, r.target, JSON.stringify(r.data)])
              : `${JSON.stringify(r)}\n`,
          );
        n += page.length;
        before = page.at(-1)?.id;
        if (page.length < pageRows) break;
      }
      return reply.send(lines.join(''));
    },
  );
};

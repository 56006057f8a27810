/** What runs cost, grouped as asked, as JSON or CSV; and spending budgets. Days and months are those of the setting `timezone`. */
import { z } from 'zod';
import { refuse } from '../../contract/errors.ts';
import { BudgetPeriod, CostGroup, moneyLimits } from '../../contract/money.ts';
import { principalScope } from '../../contract/principal.ts';
import { startOf } from '../../kernel/zone.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import { type CostLine, costCsv, costLines, costTotal } from '../../record/costs.ts';
import { iso, orNotFound, orRefuse, type RouteModule, who } from '../route.ts';

const tags = ['Money'];
const CostKind = z.enum(['billed', 'notional', 'unknown']);
const figures = {
  runs: z.number(),
  unpriced_runs: z.number(),
  cost_usd: z.number(),
  cost_kind: CostKind,
  billed_usd: z.number(),
  notional_usd: z.number(),
  unknown_usd: z.number(),
  estimated_usd: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
};
const Line = z.object({
  agent: z.string().nullish(),
  model: z.string().nullish(),
  credential: z.string().nullish(),
  tag: z.string().nullish(),
  day: z.string().nullish(),
  month: z.string().nullish(),
  ...figures,
});
const Costs = z.object({
  timezone: z.string(),
  from: z.string(),
  to: z.string(),
  group_by: z.array(CostGroup),
  costs: z.array(Line),
  total: z.object(figures),
});
const Query = z.object({
  /** Comma between several. */
  group_by: z
    .string()
    .default('agent')
    .transform((text, context) => {
      const groups = [...new Set(text.split(',').map((g) => g.trim()))].filter((g) => g !== '');
      const known = groups.filter((g): g is CostGroup => CostGroup.safeParse(g).success);
      const wrong = groups.find((g) => !CostGroup.safeParse(g).success);
      if (wrong !== undefined)
        context.addIssue({
          code: 'custom',
          message: `${JSON.stringify(wrong)} is no group; there are ${CostGroup.options.join(', ')}`,
        });
      return known;
    }),
  format: z.enum(['json', 'csv']).default('json'),
  /** ISO 8601; default: the first day of this month. */
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
});
const Summary = z.object({
  timestamp: z.string(),
  timezone: z.string(),
  today: z.object(figures),
  month: z.object(figures),
  agents: z.array(Line),
});
const Budget = z.object({
  agent_name: z.string().nullable(),
  period: BudgetPeriod,
  limit_usd: z.number(),
  spent_usd: z.number(),
  reserved_usd: z.number(),
  left_usd: z.number(),
  expected_usd: z.number().nullable(),
  used: z.number(),
  period_start: z.string(),
  period_end: z.string(),
});
const Budgets = z.object({ timezone: z.string(), budgets: z.array(Budget) });
const BudgetChange = z.object({
  /** Left out or null: the whole fleet. */
  agent_name: z.string().max(300).nullish(),
  period: BudgetPeriod.default('day'),
  /** Null takes it away. */
  limit_usd: z.number().positive().max(moneyLimits.maxUsd).nullable(),
});

const flat = ({ key, ...rest }: CostLine): z.infer<typeof Line> => ({ ...key, ...rest });

export const costRoutes: RouteModule = (deps) => async (app) => {
  app.get(
    '/api/costs',
    {
      config: { needs: 'view' },
      schema: {
        tags,
        summary: 'What runs cost: by agent, model, credential, tag, day, month; format=csv for a spreadsheet',
        querystring: Query,
        response: { 200: z.union([Costs, z.string()]) },
      },
    },
    async (request, reply) => {
      const { group_by, format } = request.query;
      const now = deps.kernel.clock.now();
      const zone = await deps.store.read('timezone', {});
      const from = request.query.from === undefined ? startOf(zone, 'month', now) : Date.parse(request.query.from);
      const to = request.query.to === undefined ? now + 1 : Date.parse(request.query.to);
      if (to <= from)
        orRefuse(
          refuse('invalid', 'to must be later than from.', { details: [{ field: 'to', problem: 'is too early' }] }),
        );
      const slices = await deps.store.read('costs', { from, to });
      const lines = costLines(slices, group_by, zone);
      if (format === 'csv')
        return reply
          .type('text/csv; charset=utf-8')
          .header('content-disposition', 'attachment; filename="drover-costs.csv"')
          .send(costCsv(lines, group_by));
      const { key: _, ...total } = costTotal(slices, zone);
      return { timezone: zone, from: iso(from), to: iso(to), group_by, costs: lines.map(flat), total };
    },
  );

  app.get(
    '/api/ops/costs',
    {
      config: { needs: 'view' },
      schema: { tags, summary: 'Today, this month, and this month by agent', response: { 200: Summary } },
    },
    async () => {
      const now = deps.kernel.clock.now();
      const zone = await deps.store.read('timezone', {});
      const [today, month] = await Promise.all(
        (['day', 'month'] as const).map((p) => deps.store.read('costs', { from: startOf(zone, p, now), to: now + 1 })),
      );
      return {
        timestamp: iso(now),
        timezone: zone,
        today: flat(costTotal(today!, zone)),
        month: flat(costTotal(month!, zone)),
        agents: costLines(month!, ['agent'], zone).map(flat),
      };
    },
  );

  const shown = async () => ({
    timezone: await deps.store.read('timezone', {}),
    budgets: (await deps.store.read('budgets', {})).map((b) => ({
      ...b,
      left_usd: Math.max(0, b.limit_usd - b.spent_usd - b.reserved_usd),
      used: b.spent_usd / b.limit_usd,
      period_start: iso(b.period_start),
      period_end: iso(b.period_end),
    })),
  });
  app.get(
    '/api/budgets',
    {
      config: { needs: 'view' },
      schema: { tags, summary: 'Spending budgets, what is spent and what is reserved', response: { 200: Budgets } },
    },
    shown,
  );
  app.put(
    '/api/budgets',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Set, change or (null) take away one; what waits may go at the next claim',
        body: BudgetChange,
        response: { 200: Budgets },
      },
    },
    async (request) => {
      const { agent_name, period, limit_usd } = request.body;
      const by = who(request);
      const agent =
        agent_name == null ? null : orNotFound(await deps.store.read('agent_by_name', { name: agent_name }), 'agent');
      orRefuse(
        await commit(deps, 'put_budget', { agent_id: agent?.id ?? null, period, limit_usd, by: principalScope(by) }),
      );
      await audit(deps, by, 'budget.put', agent?.name ?? 'fleet', { period, limit_usd });
      return shown();
    },
  );
};

/** `drover costs` and `drover budget …`: what runs cost, and how much they may. */
import type { CostGroup } from '../../contract/money.ts';
import { costGroups } from '../../contract/money.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { usage } from '../failure.ts';
import { dollars } from '../show/durations.ts';
import { table } from '../show/table.ts';
import { sinceOf } from './rediagnose.ts';

interface Asked {
  by?: string;
  from?: string;
  to?: string;
  csv?: boolean;
}

const groupsOf = (text: string): CostGroup[] =>
  text.split(',').map((word) => {
    const group = costGroups.find((g) => g === word.trim());
    if (group === undefined)
      throw usage(`--by knows no ${JSON.stringify(word)}.`, `It knows ${costGroups.join(', ')}.`);
    return group;
  });

export const costs = async (context: Context, options: Asked): Promise<ExitName> => {
  const { terminal } = context;
  const groups = groupsOf(options.by ?? 'agent');
  const { api } = context.connection();
  const query = {
    group_by: groups.join(','),
    from: options.from === undefined ? null : sinceOf(options.from, context.now(), '--from'),
    to: options.to === undefined ? null : sinceOf(options.to, context.now(), '--to'),
  };
  if (options.csv && context.json) throw usage('--csv and --json are two forms of the same: one of them.');
  if (options.csv) {
    terminal.out(await api.costsCsv(query));
    return 'ok';
  }
  const body = await api.costs(query);
  if (context.json) {
    printJson(context, body);
    return 'ok';
  }
  if (body.costs.length === 0) terminal.out('No run has told a cost in that time.\n');
  else {
    terminal.out(
      table(
        terminal,
        [...groups.map((g) => g.toUpperCase()), 'RUNS', 'COST', 'BILLED', 'NOTIONAL', 'UNKNOWN', 'ESTIMATED'],
        body.costs.map((c) => [
          ...groups.map((g) => c[g] ?? '–'),
          c.unpriced_runs === 0 ? String(c.runs) : `${c.runs} (${c.unpriced_runs} of unknown cost)`,
          ...[c.cost_usd, c.billed_usd, c.notional_usd, c.unknown_usd, c.estimated_usd].map((usd) =>
            // Where no run has told its cost there is no amount, not one of $0.00.
            dollars(c.unpriced_runs === c.runs ? null : usd),
          ),
        ]),
      ),
    );
    const { total } = body;
    const since = `since ${body.from} (${body.timezone})`;
    const { runs, unpriced_runs: untold } = total;
    terminal.out(
      untold === runs
        ? `What ${runs} runs ${since} cost is not known.\n`
        : `${dollars(total.cost_usd)} in ${runs} runs ${since}: ${dollars(total.billed_usd)} billed, ${dollars(total.notional_usd)} at list price on subscriptions, ${dollars(total.unknown_usd)} not known which${untold === 0 ? '' : `; of ${untold} the cost is not known`}.\n`,
    );
  }
  return 'ok';
};

export const budgets = async (context: Context): Promise<ExitName> => {
  const { terminal } = context;
  const body = await context.connection().api.budgets();
  if (context.json) {
    printJson(context, body);
    return 'ok';
  }
  if (body.budgets.length === 0) terminal.out('No budget is set. drover budget set 20 --agent NAME --per day\n');
  else
    terminal.out(
      table(
        terminal,
        ['OF', 'PER', 'LIMIT', 'SPENT', 'RESERVED', 'LEFT', 'USED', 'UNTIL'],
        body.budgets.map((b) => [
          b.agent_name ?? 'the fleet',
          b.period,
          dollars(b.limit_usd),
          dollars(b.spent_usd),
          dollars(b.reserved_usd),
          dollars(b.left_usd),
          {
            text: `${Math.round(100 * b.used)} %`,
            colour: b.used >= 1 ? ('red' as const) : b.used >= 0.8 ? ('yellow' as const) : ('green' as const),
          },
          b.period_end,
        ]),
      ),
    );
  return 'ok';
};

interface Which {
  agent?: string;
  per?: 'day' | 'month';
}
const named = (which: Which): string => which.agent ?? 'the fleet';

export const setBudget = async (context: Context, which: Which, [amount]: string[]): Promise<ExitName> => {
  const limit = Number(amount);
  if (!(limit > 0)) throw usage(`A budget needs an amount in dollars above 0, not ${JSON.stringify(amount)}.`);
  const per = which.per ?? 'day';
  const body = await context
    .connection()
    .api.setBudget({ agent_name: which.agent ?? null, period: per, limit_usd: limit });
  if (context.json) printJson(context, body);
  else
    context.terminal.out(
      `${named(which)} may spend ${dollars(limit)} a ${per}; beyond it new work waits (budget_spent), and nothing that runs is ended.\n`,
    );
  return 'ok';
};

export const removeBudget = async (context: Context, which: Which): Promise<ExitName> => {
  const per = which.per ?? 'day';
  const body = await context
    .connection()
    .api.setBudget({ agent_name: which.agent ?? null, period: per, limit_usd: null });
  if (context.json) printJson(context, body);
  else context.terminal.out(`There is no budget per ${per} of ${named(which)} any more.\n`);
  return 'ok';
};

/** `drover costs` and `drover budget …`: names, arguments and options. */
import { type Command, Option } from 'commander';
import { BudgetPeriod } from '../contract/money.ts';
import type { Declare } from './options.ts';

export const moneyCommands = (program: Command, declare: Declare): void => {
  const load = () => import('./commands/costs.ts');
  declare(program, 'costs', 'what runs cost, of this month', async () => (await load()).costs)
    .option('--by <groups>', 'agent, model, credential, tag, day, month; commas between several (default: agent)')
    .option('--from <date>', 'since when: 7d, 2026-11-01 (default: the first of this month)')
    .option('--to <date>', 'until when (default: now)')
    .option('--csv', 'for a spreadsheet');

  const per = () => new Option('--per <period>', 'a day (default) or a month').choices([...BudgetPeriod.options]);
  const budget = declare(program, 'budget', 'how much may be spent, and is', async () => (await load()).budgets);
  declare(budget, 'ls', 'the same', async () => (await load()).budgets).alias('list');
  declare(
    budget,
    'set <dollars>',
    'set or change one; what waits for it goes at the next claim',
    async () => (await load()).setBudget,
  )
    .option('--agent <name>', 'of this agent (default: the whole fleet)')
    .addOption(per());
  declare(budget, 'rm', 'take one away', async () => (await load()).removeBudget)
    .option('--agent <name>', 'of this agent (default: the whole fleet)')
    .addOption(per());
};

import { expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import type { CostSlice } from '../contract/money.ts';
import { costCsv, costLines, costTotal } from './costs.ts';

const slice = (over: Partial<CostSlice> = {}): CostSlice => ({
  from: Date.parse('2026-11-30T23:15:00Z'),
  agent_name: 'a',
  credential_name: 'key',
  model: 'm',
  tags: [],
  cost_kind: 'billed',
  estimated: false,
  runs: 1,
  unpriced: 0,
  cost_usd: 0.1,
  input_tokens: 10,
  output_tokens: 1,
  ...over,
});

it(verifies('R41')('are grouped by the days and months of the zone, with their kinds apart'), () => {
  const slices = [
    slice(),
    slice({ cost_usd: 0.2, cost_kind: 'notional', credential_name: 'plan', estimated: true }),
    slice({ from: Date.parse('2026-11-30T12:00:00Z'), agent_name: 'b', runs: 2, unpriced: 1 }),
  ];
  expect(costLines(slices, ['day'], 'Europe/Berlin').map((l) => [l.key.day, l.cost_usd, l.cost_kind])).toEqual([
    ['2026-12-01', 0.3, 'unknown'],
    ['2026-11-30', 0.1, 'billed'],
  ]);
  expect(costLines(slices, ['month'], 'UTC')).toMatchObject([
    { key: { month: '2026-11' }, runs: 4, unpriced_runs: 1, cost_usd: 0.4, notional_usd: 0.2, estimated_usd: 0.2 },
  ]);
  expect(costLines(slices, ['agent', 'credential'], 'UTC').map((l) => Object.values(l.key).join('/'))).toEqual([
    'a/plan',
    'a/key',
    'b/key',
  ]);
  expect(costTotal([], 'UTC')).toMatchObject({ runs: 0, cost_usd: 0 });
});

it('a run counts under each of its tags, and under none when it has none', () => {
  const lines = costLines([slice({ tags: ['x', 'y'] }), slice()], ['tag'], 'UTC');
  expect(lines.map((l) => [l.key.tag, l.cost_usd])).toEqual([
    ['x', 0.1],
    ['y', 0.1],
    [null, 0.1],
  ]);
});

it('CSV quotes what needs it, and gives a spreadsheet no formula', () => {
  const csv = costCsv(costLines([slice({ agent_name: '=cmd(),"x"', model: null })], ['agent', 'model'], 'UTC'), [
    'agent',
    'model',
  ]);
  expect(csv.split('\r\n')).toEqual([
    'agent,model,runs,unpriced_runs,cost_usd,cost_kind,billed_usd,notional_usd,unknown_usd,estimated_usd,input_tokens,output_tokens',
    '"\'=cmd(),""x""",,1,0,0.1,billed,0.1,0,0,0,10,1',
    '',
  ]);
});

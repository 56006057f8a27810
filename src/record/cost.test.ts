import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { emptyStream } from '../contract/facts.ts';
import { runCost } from './cost.ts';

const stream = (cost: number | null, source: string | null = null) => ({
  ...emptyStream('claude' as const),
  cost_usd: cost,
  api_key_source: source,
});

describe('the cost of a run', () => {
  it(verifies('R41')('is the difference to the total of its session'), () => {
    expect(runCost(stream(0.3), 0.1, 'anthropic_api_key')).toEqual({
      cost_usd: 0.2,
      cost_kind: 'billed',
      cost_estimated: false,
    });
  });
  it(verifies('R41')('counts whole when the session is a new one'), () => {
    expect(runCost(stream(0.05), 0.1, 'claude_oauth')).toEqual({
      cost_usd: 0.05,
      cost_kind: 'notional',
      cost_estimated: false,
    });
  });
  it(verifies('R7')('is null when nothing was reported'), () => {
    expect(runCost(stream(null), 0.1, null)).toEqual({ cost_usd: null, cost_kind: null, cost_estimated: false });
  });
  it(verifies('R41')('is billed when the CLI says that it used an API key, unknown without a known login'), () => {
    expect(runCost(stream(1, 'ANTHROPIC_API_KEY'), null, null).cost_kind).toBe('billed');
    expect(runCost(stream(1, 'none'), null, null).cost_kind).toBe('unknown');
  });
  it(
    verifies('R41')('of a run that was killed is summed from its stream, marked, and never the difference to a total'),
    () => {
      const killed = {
        ...stream(null),
        model: 'claude-sonnet-4-5-20250929',
        usage: { input_tokens: 1_000, output_tokens: 2_000, cache_read_tokens: 100_000, cache_write_tokens: 10_000 },
      };
      expect(runCost(killed, 5, 'claude_oauth')).toEqual({
        cost_usd: 0.1005,
        cost_kind: 'notional',
        cost_estimated: true,
      });
      for (const model of ['claude-sonnet-4-5[1m]', 'gpt-5', 'claude-unheard-of', null])
        expect(runCost({ ...killed, model }, null, null).cost_usd).toBeNull();
    },
  );
});

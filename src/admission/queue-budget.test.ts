import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { queueBudgetMs } from './queue-budget.ts';

describe('the queue budget', () => {
  const byDefault = { queue_timeout_s: 3600, queue_timeout_source: 'default' } as const;
  const byHand = (queue_timeout_s: number) => ({ queue_timeout_s, queue_timeout_source: 'environment' }) as const;
  it(verifies('R12')('is 3600 s by default for calls that somebody waits for'), () => {
    expect(queueBudgetMs(false, byDefault, null)).toBe(3_600_000);
  });
  it(verifies('R12')('is 24 h by default for durable work'), () => {
    expect(queueBudgetMs(true, byDefault, null)).toBe(86_400_000);
  });
  it(verifies('R12', 'D4')('0 waits for ever'), () => {
    expect(queueBudgetMs(false, byHand(0), null)).toBeNull();
    expect(queueBudgetMs(true, byDefault, 0)).toBeNull();
  });
  it(verifies('R12')('set by hand alone, holds for durable work too'), () => {
    expect(queueBudgetMs(true, byHand(2), null)).toBe(2000);
    expect(queueBudgetMs(true, { queue_timeout_s: 2, queue_timeout_source: 'setting' }, null)).toBe(2000);
  });
  it(verifies('R12')('keeps both apart when both were set by hand'), () => {
    expect(queueBudgetMs(true, byHand(2), 60)).toBe(60_000);
    expect(queueBudgetMs(false, byHand(2), 60)).toBe(2000);
  });
});

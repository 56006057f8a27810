import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { queueBudgetMs } from './budget.ts';

describe('the queue budget', () => {
  const base = { queueTimeoutS: 3600, queueTimeoutSetByHand: false, durableQueueTimeoutS: null };
  it(verifies('R12')('is 3600 s by default for calls that somebody waits for'), () => {
    expect(queueBudgetMs(false, base)).toBe(3_600_000);
  });
  it(verifies('R12')('is 24 h by default for durable work'), () => {
    expect(queueBudgetMs(true, base)).toBe(86_400_000);
  });
  it(verifies('R12', 'D4')('0 waits for ever'), () => {
    expect(queueBudgetMs(false, { ...base, queueTimeoutS: 0, queueTimeoutSetByHand: true })).toBeNull();
  });
  it(verifies('R12')('set by hand alone, holds for durable work too'), () => {
    expect(queueBudgetMs(true, { ...base, queueTimeoutS: 2, queueTimeoutSetByHand: true })).toBe(2000);
  });
  it(verifies('R12')('keeps both apart when both were set by hand'), () => {
    expect(queueBudgetMs(true, { queueTimeoutS: 2, queueTimeoutSetByHand: true, durableQueueTimeoutS: 60 })).toBe(
      60_000,
    );
  });
});

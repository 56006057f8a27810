/** An amount as people read it, on the command line, the screen and in what is sent: one way everywhere. Pure, and without zod: the page loads it. */

/** Less than a cent has four digits: two would say that it was nothing. */
export const inDollars = (usd: number): string => `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`;

/** Runs ended and none of them told what it cost: that is not the same as nothing spent. */
export const costUntold = (c: { total_usd: number; unpriced_runs: number }): boolean =>
  c.total_usd === 0 && c.unpriced_runs > 0;

/** An amount as people read it, on the command line, the screen and in what is sent: one way everywhere. Pure, and without zod: the page loads it. */

/** Less than a cent has four digits: two would say that it was nothing. */
export const inDollars = (usd: number): string => `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`;

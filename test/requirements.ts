/** What must be true, by id: the rules (R) and the drills (D). A test ties itself to one with `verifies('R12')`. */
export const rules = Array.from({ length: 48 }, (_, i) => `R${i + 1}`);
export const drills = Array.from({ length: 37 }, (_, i) => `D${i + 1}`);

/** Still to come, each with the part of the product it belongs to. A rule leaves this list when a test verifies it. */
export const toCome: Record<string, string> = {
  R47: 'PostgreSQL',
  D7: 'two servers on PostgreSQL',
};

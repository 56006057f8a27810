/** What must be true, by id: the rules (R) and the drills (D). A test ties itself to one with `verifies('R12')`. */
export const rules = Array.from({ length: 48 }, (_, i) => `R${i + 1}`);
export const drills = Array.from({ length: 37 }, (_, i) => `D${i + 1}`);

/** Still to come, each with the part of the product it belongs to. A rule leaves this list when a test verifies it. */
export const toCome: Record<string, string> = {
  R21: 'calls between agents over MCP',
  R38: 'the credential pool: transitions and switching',
  R39: 'the credential pool: switching',
  R40: 'weather',
  R43: 'schedules',
  R47: 'PostgreSQL',
  D5: 'fairness under a flood, with its stated bound',
  D7: 'two servers on PostgreSQL',
  D11: 'chains and cycles of calls',
  D12: 'an agent that calls itself',
  D13: 'depth and cancel through a chain',
  D14: 'long silent calls over MCP',
  D19: 'credential evidence in the pool',
  D24: 'switching',
  D26: 'switching',
  D27: 'switching',
  D28: 'recovery at full strength',
  D29: 'recovery at full strength',
  D30: 'recovery at full strength',
  D32: 'recovery at full strength',
  D34: 'schedules',
  D36: 'the pool and health by axis',
};

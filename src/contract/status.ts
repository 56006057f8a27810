/**
 * The states of an execution, as plain words: the store's threads load them, and a schema library with them would be 2 MB in
 * each.
 */
export const executionStatuses = ['queued', 'running', 'waiting', 'success', 'failed', 'cancelled', 'skipped'] as const;
type ExecutionStatus = (typeof executionStatuses)[number];
const terminalStatuses: readonly ExecutionStatus[] = ['success', 'failed', 'cancelled', 'skipped'];
export const isTerminal = (s: ExecutionStatus): boolean => terminalStatuses.includes(s);

/** What the page reads, by name, and which of it a change of the fleet makes stale. Pure. */
export const keys = {
  setup: ['setup'],
  me: ['me'],
  limits: ['limits'],
  agents: ['agents'],
  runners: ['runners'],
  operator: ['operator'],
  credentials: ['credentials'],
  incidents: ['incidents'],
  schedules: ['schedules'],
  costs: ['costs'],
  budgets: ['budgets'],
  morning: ['morning'],
  people: ['people'],
  invites: ['invites'],
  apiKeys: ['api-keys'],
  audit: ['audit'],
  health: ['health'],
  doctor: ['doctor'],
  notifications: ['notifications'],
  backups: ['backups'],
  running: ['executions', 'running'],
  queued: ['executions', 'queued'],
  ended: ['executions', 'ended'],
  /** Lists by filter: any change of any execution may move them. */
  runLists: ['executions', 'list'],
  runList: (filters: object) => ['executions', 'list', JSON.stringify(filters)],
  /** What is read of one agent: by the event's name none is told apart, they are few. */
  ofAgents: ['agent'],
  ofAgent: (name: string, what: string, ...more: string[]) => ['agent', name, what, ...more],
  /** Read when asked for, not by events: a tree of files, the lines of processes. */
  files: (name: string) => ['files', name],
  logs: (name: string, tail: number) => ['logs', name, `${tail}`],
  /** Whichever run is open. */
  open: ['execution'],
  execution: (id: string) => ['execution', id],
} as const;

export type Key = readonly string[];

/** By the first word of the type, so that a type of a newer server still moves the right lists. */
export const staleAfter = (event: { type: string; execution_id: string | null }): Key[] => {
  const own = event.execution_id === null ? [] : [keys.execution(event.execution_id)];
  switch (event.type) {
    case 'execution.queued':
      // It may be a tick: its schedule is due at another time now.
      return [keys.queued, keys.runLists, keys.limits, keys.agents, keys.schedules, ...own];
    // A claim is also a sign of life of a runner.
    case 'execution.claimed':
    case 'execution.requeued':
      return [keys.queued, keys.running, keys.runLists, keys.limits, keys.agents, keys.runners, ...own];
    case 'execution.started':
    case 'execution.waiting':
    case 'execution.resumed':
    case 'execution.silent':
      return [keys.running, keys.runLists, keys.limits, keys.agents, ...own];
  }
  switch (event.type.split('.', 1)[0]) {
    case 'execution':
      // Also what was said in a chat, and how its agent stands.
      return [
        keys.running,
        keys.queued,
        keys.ended,
        keys.runLists,
        keys.limits,
        keys.agents,
        keys.ofAgents,
        keys.schedules,
        keys.costs,
        keys.morning,
        keys.budgets,
        ...own,
      ];
    // A run that is open on the screen waits for another reason now.
    case 'agent':
      return [keys.agents, keys.limits, keys.queued, keys.runLists, keys.open, keys.ofAgents];
    case 'limits':
    case 'fleet':
      return [keys.limits, keys.queued, keys.runLists, keys.open];
    case 'runner':
      return [keys.runners, keys.limits, keys.queued, keys.health];
    case 'operator':
      return [keys.operator, keys.health];
    case 'incident':
      return [keys.incidents, keys.queued, keys.limits, keys.open];
    case 'budget':
      return [keys.budgets, keys.queued, keys.limits];
    case 'schedule':
      return [keys.schedules];
    case 'credential':
      return [keys.credentials, keys.queued];
    default:
      return [keys.limits];
  }
};

/** What a backup holds and what it lacks, in words: apart from its shapes, so that the page reads them without a validator. */
export const backupHolds = [
  'agents, limits, schedules, people, keys, settings',
  'executions, attempts, facts, events, audit',
  'the transcripts of all runs',
  'the sealed secrets',
];

/** Said in the manifest, by the command and in docs/operations.md. */
export const backupLacks = [
  'the key that opens what is sealed (DROVER_HOME/secret.key, or DROVER_SECRET_KEY): keep a copy elsewhere, or enter them again',
  'the workspaces and the refs that keep the work in them',
  "the CLIs' own sessions, and what a runner had not delivered yet (DROVER_HOME/runner)",
];

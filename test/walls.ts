/** The walls of the house as data: who may import whom, and who may touch what. Checked by walls.test.ts. */

/** Layer of a file: the longest matching prefix of `src/…` or `web/src`. */
export const layers: Record<string, readonly string[]> = {
  contract: [],
  kernel: ['contract'],
  evidence: ['contract', 'kernel'],
  store: ['contract', 'kernel'],
  outcome: ['contract', 'kernel', 'evidence'],
  runner: ['contract', 'kernel', 'evidence'],
  admission: ['contract', 'kernel', 'store', 'outcome', 'flow/deps.ts'],
  queue: ['contract', 'kernel', 'store'],
  credentials: ['contract', 'kernel', 'store', 'flow/deps.ts'],
  record: ['contract', 'kernel', 'store', 'outcome', 'flow/deps.ts', 'config.ts'],
  flow: [
    'contract',
    'kernel',
    'evidence',
    'store',
    'outcome',
    'admission',
    'queue',
    'credentials',
    'record',
    'config.ts',
  ],
  // Answers of people become work, so it stands above the door by which work enters.
  operator: ['contract', 'kernel', 'store', 'credentials', 'record', 'flow'],
  dispatch: ['contract', 'kernel', 'store', 'flow', 'record'],
  api: [
    'contract',
    'kernel',
    'store',
    'outcome',
    'admission',
    'queue',
    'credentials',
    'operator',
    'record',
    'flow',
    'dispatch',
    'config.ts',
  ],
  server: ['contract', 'kernel', 'config.ts'],
  client: ['contract'],
  cli: ['contract', 'kernel', 'client', 'evidence', 'outcome', 'demo', 'config.ts'],
  web: ['contract', 'client'],
  holder: [],
  demo: [],
  'config.ts': ['contract', 'kernel'],
  'main.ts': ['*'],
  // The runner's own process: builds its parts as main.ts does.
  'runner/entry.ts': ['contract', 'kernel', 'evidence', 'runner', 'config.ts'],
};

/** Things that have one home. A file may use one when a prefix here matches it. */
export const homes = {
  'node:child_process': ['holder/', 'runner/launchers/', 'runner/workspace/', 'cli/', 'demo/', 'main.ts', 'server/'],
  'node:sqlite': ['store/engines/', 'store/migrations/'],
  'node:worker_threads': ['store/'],
  kysely: ['store/'],
  'process.env': ['config.ts', 'holder/', 'demo/'],
  'Date.now': ['kernel/clock.ts', 'holder/', 'demo/', 'store/engines/', 'web/', 'cli/'],
  setTimeout: ['kernel/', 'holder/', 'demo/', 'web/', 'client/'],
  setInterval: ['holder/', 'demo/', 'web/'],
  // Each place that may send something over the network.
  fetch: ['operator/post-notification.ts', 'client/', 'cli/connection.ts', 'runner/'],
  'Math.random': ['demo/'],
} as const;

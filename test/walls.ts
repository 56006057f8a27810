/** The walls of the house as data: who may import whom, and who may touch what. Checked by walls.test.ts, printed in AGENTS.md. */

/** Layer of a file: the longest matching prefix of `src/…` or `web/src`. */
export const layers: Record<string, readonly string[]> = {
  contract: [],
  kernel: ['contract'],
  evidence: ['contract'],
  store: ['contract', 'kernel'],
  outcome: ['contract', 'kernel', 'evidence'],
  runner: ['contract', 'kernel', 'evidence'],
  admission: ['contract', 'store'],
  credentials: ['contract', 'kernel'],
  record: ['contract', 'kernel', 'store', 'flow/deps.ts', 'config.ts'],
  flow: ['contract', 'kernel', 'store', 'outcome', 'admission', 'credentials', 'record', 'config.ts'],
  // Answers of people become work, so it stands above the door by which work enters.
  operator: ['contract', 'kernel', 'store', 'credentials', 'record', 'flow'],
  dispatch: ['contract', 'store', 'record', 'flow'],
  // Ticks become work, so it stands above the door by which work enters.
  schedule: ['contract', 'kernel', 'store', 'record', 'flow'],
  api: [
    'contract',
    'kernel',
    'store',
    'admission',
    'credentials',
    'record',
    'flow',
    'operator',
    'dispatch',
    'schedule',
    'mcp',
  ],
  // Asks the routes through what the HTTP edge hands it; knows no route and no Fastify.
  mcp: ['contract', 'store', 'admission', 'flow'],
  client: ['contract'],
  // `demo`: its scenes.
  cli: ['contract', 'kernel', 'outcome', 'client', 'demo', 'config.ts'],
  web: ['contract', 'client'],
  // Nothing of ours: the holder outlives upgrades, the demo plays a CLI.
  holder: [],
  demo: [],
  server: ['contract', 'kernel'],
  // What builds: the server, its joined parts, the runner's own process.
  'main.ts': ['*'],
  'server/parts.ts': ['*'],
  'restore.ts': ['contract', 'kernel', 'store', 'record', 'config.ts', 'cli/program-end.ts'],
  'runner/entry.ts': ['contract', 'kernel', 'runner', 'config.ts', 'cli/program-end.ts'],
  'config.ts': ['contract', 'kernel'],
};

/** Things that have one home. A file may use one when a prefix here matches it. */
export const homes = {
  'node:child_process': [
    'holder/',
    'runner/launchers/',
    'runner/workspace/',
    'server/local-runner.ts',
    'cli/',
    'demo/',
  ],
  'node:sqlite': ['store/engines/', 'store/migrations/'],
  'node:worker_threads': ['store/'],
  kysely: ['store/'],
  '@modelcontextprotocol/sdk/server/index.js': ['mcp/'],
  '@modelcontextprotocol/sdk/server/streamableHttp.js': ['mcp/'],
  'process.env': ['config.ts'],
  'Date.now': ['kernel/clock.ts', 'holder/', 'store/engines/sqlite-writer.ts', 'cli/main.ts', 'web/'],
  setTimeout: ['kernel/clock.ts', 'client/pause.ts', 'cli/doctor/', 'demo/', 'web/'],
  setInterval: ['holder/', 'web/'],
  // Each place that may send something over the network.
  fetch: ['operator/post-notification.ts', 'credentials/try-key.ts', 'client/', 'cli/connection.ts', 'runner/'],
  'Math.random': [],
} as const;

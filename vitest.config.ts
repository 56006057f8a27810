import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    alias: [{ find: /^\.\/worker-url\.ts$/, replacement: resolve(import.meta.dirname, 'test/support/worker-url.ts') }],
  },
  test: {
    include: ['src/**/*.test.ts', 'web/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: 'test/support/bundle-threads.ts',
    // Real processes and cgroups: one test file must not starve another on two cores.
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    pool: 'forks',
  },
});

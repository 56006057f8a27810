import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'web/**/*.test.ts', 'test/**/*.test.ts'],
    // Real processes and cgroups: one test file must not starve another on two cores.
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    pool: 'forks',
  },
});

import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/helpers/shared-postgres.ts',
    // Most of them wait for processes and sockets.
    maxWorkers: Math.max(4, availableParallelism()),
    // Journeys start the built program and sockets; two cores in CI may be busy.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestUserConfig } from 'vitest/config';
import { texts } from './texts.mjs';

/**
 * These measure the heap, count the open files of their process, or change functions before libraries are loaded: other
 * tests must not share it.
 */
const alone = [
  'test/client/concurrent-map.test.ts',
  'test/commands/login-faults.test.ts',
  'test/share/attachments.test.ts',
  'test/server/app.test.ts',
  'test/server/fuzz.test.ts',
];

/** These are about the npm package: its compile cache, its chunks, its files. */
const ofPackage = ['compile-cache', 'loading', 'package'].map(
  (name) => `test/journey/${name}.test.ts`,
);

// One for all workers of a run.
process.env.PWPUSH_TEST_SEED ??= `${Math.floor(Math.random() * 2 ** 31)}`;

const common: TestUserConfig = {
  root: fileURLToPath(new URL('..', import.meta.url)),
  // Journeys start the built program and sockets; two cores in CI may be busy.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
};

const plugins = [texts()];

export default defineConfig({
  test: {
    ...common,
    reporters: ['default', 'test/helpers/skipped.ts'],
    globalSetup: 'test/helpers/shared-postgres.ts',
    // Most of them wait for processes and sockets.
    maxWorkers: Math.max(4, availableParallelism()),
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/vitest' },
    projects: [
      {
        plugins,
        // Loading the modules again for each file takes longer than most tests.
        test: {
          ...common,
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...alone, ...(process.env.PWPUSH_TEST_BINARY ? ofPackage : [])],
          isolate: false,
        },
      },
      { plugins, test: { ...common, name: 'alone', include: alone } },
    ],
  },
});

import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestUserConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
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

/** Files that take longer than their size says: they begin, so that none of them is left alone at the end. The others go by size. */
const slow = [
  'cases',
  'cli/completion',
  'cli/terminal/hostile',
  'client/transport/repeats',
  'commands/cut-connections',
  'commands/mcp/fuzz',
  'journey/client-faults',
  'journey/clipboard',
  'journey/compile-cache',
  'journey/crash',
  'journey/examples',
  'journey/file-systems',
  'journey/files-terminal',
  'journey/here',
  'journey/here-lan',
  'journey/hostile',
  'journey/interrupted',
  'journey/late-responses',
  'journey/loading',
  'journey/markers',
  'journey/nginx',
  'journey/package',
  'journey/page-request',
  'journey/page-states',
  'journey/pipes',
  'journey/postgres',
  'journey/power-loss',
  'journey/receive',
  'journey/rekey',
  'journey/request-answers',
  'journey/serve-faults',
  'journey/skill',
  'journey/terminal',
  'journey/typed',
  'model',
  'profile/system-keyring',
  'server/page/browser/x25519',
  'server/rules/races',
  'server/rules/short-disk',
  'server/secrets-at-rest',
  'server/store/faults',
].map((name) => `/test/${name}.test.ts`);

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) =>
      project.name === 'alone' ? 0 : slow.some((one) => moduleId.endsWith(one)) ? 1 : 2;
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

// One for all workers of a run.
process.env.PWPUSH_TEST_SEED ??= `${Math.floor(Math.random() * 2 ** 31)}`;

const limit = process.env.PWPUSH_TEST_LONG === '1' ? 900_000 : 240_000;

const common: TestUserConfig = {
  root: fileURLToPath(new URL('..', import.meta.url)),
  // What never ends is rare; a machine that is busy is not.
  testTimeout: limit,
  hookTimeout: limit,
  expect: { poll: { timeout: 60_000 } },
};

const plugins = [texts()];

export default defineConfig({
  test: {
    ...common,
    reporters: ['default', 'test/helpers/skipped.ts'],
    globalSetup: ['test/helpers/no-agent.ts', 'test/helpers/shared-postgres.ts'],
    sequence: { sequencer: SlowFirst },
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

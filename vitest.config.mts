import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestUserConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { texts } from './.config/texts.mjs';

// A test has one tier, which its file's name says. CONTRIBUTING.md tells what belongs where.

/**
 * These measure the heap, count the open files of their process, or change functions before libraries are loaded: other
 * tests must not share it.
 */
const alone = [
  'test/client/in-order.test.ts',
  'test/commands/faults.slow.test.ts',
  'test/send/attachments.test.ts',
  'test/server/fuzz.slow.test.ts',
];

/** These are about the npm package: its compile cache, its chunks, its files. */
const ofPackage = ['compile-cache', 'loading', 'package'].map(
  (name) => `test/journey/${name}.slow.test.ts`,
);

/** Files that take longer than their size says: they begin, so that none of them is left alone at the end. The others go by size. */
const longest = [
  'cases',
  'cases.slow',
  'install.slow',
  'cli/completion.slow',
  'journey/clipboard.slow',
  'journey/compile-cache.slow',
  'journey/crash.slow',
  'journey/examples.slow',
  'journey/here.slow',
  'journey/nginx.slow',
  'journey/postgres.slow',
  'journey/power-loss.slow',
  'journey/printed-commands.slow',
  'journey/request.page',
  'journey/serve-faults.slow',
  'journey/states.page',
  'model.slow',
  'server/rules/short-disk.slow',
].map((name) => `/test/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      longest.some((one) => moduleId.endsWith(one)) ? 0 : 1;
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

// One for all workers of a run.
process.env.PWPUSH_TEST_SEED ??= `${Math.floor(Math.random() * 2 ** 31)}`;

// What never ends is rare; a machine that is busy is not.
const limit = process.env.PWPUSH_TEST_LONG === '1' ? 900_000 : 240_000;

const common: TestUserConfig = {
  root: fileURLToPath(new URL('.', import.meta.url)),
  testTimeout: limit,
  hookTimeout: limit,
  expect: { poll: { timeout: 60_000 } },
};

const cores = availableParallelism();
const slow = 'test/**/*.slow.test.ts';
const page = 'test/**/*.page.test.ts';
const isSlow = (file: string) => file.endsWith('.slow.test.ts');
const skipped = process.env.PWPUSH_TEST_BINARY ? ofPackage : [];

/** Tiers run one after the other; loading the modules again for each file takes longer than most tests. */
const tier = (name: string, at: number, workers: number, test: TestUserConfig) => ({
  plugins: [texts()],
  test: {
    ...common,
    name,
    isolate: false,
    setupFiles: ['test/helpers/ended.ts', 'test/helpers/new-connections.ts'],
    maxWorkers: workers,
    sequence: { groupOrder: at },
    ...test,
  },
});

export default defineConfig({
  test: {
    ...common,
    reporters: ['test/helpers/reporter.ts', 'test/helpers/promises.ts'],
    globalSetup: [
      'test/helpers/left-behind.ts',
      'test/helpers/no-agent.ts',
      'test/helpers/shared-postgres.ts',
    ],
    sequence: { sequencer: LongestFirst },
    tags: [
      {
        name: 'executable',
        description: 'what the runtime of the executable can change (PWPUSH_TEST_BINARY)',
      },
      {
        name: 'firefox',
        description: 'what the engine of a browser can change (PWPUSH_TEST_BROWSER)',
      },
    ],
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/vitest' },
    projects: [
      tier('fast', 0, cores, {
        include: ['test/**/*.test.ts'],
        exclude: [slow, page, ...alone, ...skipped],
      }),
      tier('fast alone', 1, cores, { include: alone, exclude: [slow], isolate: true }),
      // These mostly wait for processes and sockets.
      tier('slow', 2, 2 * cores, { include: [slow], exclude: [...alone, ...skipped] }),
      tier('slow alone', 3, cores, { include: alone.filter(isSlow), isolate: true }),
      tier('page', 4, cores + 1, { include: [page] }),
    ],
  },
});

import { readFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';
import type { Skipped } from './needs';

/**
 * Prints at the end of a run its seed, what was skipped for want of what, and what to install. In CI, a skip of which
 * `needs.ts` does not know fails the run.
 */
export default class SkippedReporter implements Reporter {
  private filtered = false;

  onInit({ config }: Vitest): void {
    this.filtered = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    console.log(`PWPUSH_TEST_SEED=${process.env.PWPUSH_TEST_SEED}`);
    const missing = new Map<string, number>();
    const elsewhere = new Map<string, number>();
    for (const test of modules.flatMap((module) => [...module.children.allTests('skipped')])) {
      const skipped = reasonOf(test);
      const group = skipped?.elsewhere ? elsewhere : missing;
      if (skipped) group.set(skipped.without, (group.get(skipped.without) ?? 0) + 1);
      else if (!this.filtered && process.env.PWPUSH_TEST_ALL === '1') {
        console.error(`skipped without a reason: ${test.fullName}`);
        process.exitCode = 1;
      }
    }
    for (const [what, group] of [
      ['run only with', elsewhere],
      ['not tried, as there is no', missing],
    ] as const)
      if (group.size > 0) console.log(`${what} ${counted(group)}`);
    const packages = packagesOf([...missing.keys()].flatMap((names) => names.split(', ')));
    if (packages.length > 0) console.log(`to try them: apt-get install ${packages.join(' ')}`);
  }
}

function reasonOf(test: TestCase): Skipped | undefined {
  const { skipped } = test.meta() as { skipped?: Skipped };
  if (skipped) return skipped;
  const result = test.result();
  const without = result?.state === 'skipped' ? result.note : undefined;
  return without === undefined ? undefined : { without, elsewhere: false };
}

const counted = (group: ReadonlyMap<string, number>) =>
  [...group]
    .sort()
    .map(([name, count]) => `${name} (${count})`)
    .join(', ');

/** The packages of Debian that bring these programs, as `.ci/run` installs them. */
function packagesOf(names: readonly string[]): string[] {
  const lines = readFileSync('.ci/run', 'utf8').matchAll(/^(.*) \|\| need\+=\((.*)\)$/gm);
  const wanted = [...lines].filter(([, test, packages]) =>
    names.some((name) => test?.split(/[\s/]/).includes(name) || packages === name.toLowerCase()),
  );
  return wanted.map(([, , packages = '']) => packages).sort();
}

import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';
import type { Skipped } from './needs';

/** Prints at the end of a run its seed, and what was skipped for which reason. In CI, a skip of which `needs.ts` does not know fails the run. */
export default class SkippedReporter implements Reporter {
  private filtered = false;

  onInit({ config }: Vitest): void {
    this.filtered = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    console.log(`PWPUSH_TEST_SEED=${process.env.PWPUSH_TEST_SEED}`);
    const tests = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    const groups = new Map<string, TestCase[]>();
    for (const test of tests) {
      const reason = reasonOf(test);
      if (reason) groups.set(reason, [...(groups.get(reason) ?? []), test]);
      else if (!this.filtered && process.env.PWPUSH_TEST_ALL === '1') {
        console.error(`skipped without a reason: ${test.fullName}`);
        process.exitCode = 1;
      }
    }
    for (const [reason, of] of [...groups].sort())
      console.log(`skipped, ${reason}: ${of.length} (${[...new Set(of.map(fileOf))].join(', ')})`);
  }
}

function reasonOf(test: TestCase): string | undefined {
  const { skipped } = test.meta() as { skipped?: Skipped };
  if (skipped) return `${skipped.elsewhere ? 'only with' : 'missing'} ${skipped.without}`;
  const result = test.result();
  return result?.state === 'skipped' && result.note ? `missing ${result.note}` : undefined;
}

const fileOf = ({ module }: TestCase) =>
  module.relativeModuleId.replace(/^test\/|\.test\.ts$/g, '');

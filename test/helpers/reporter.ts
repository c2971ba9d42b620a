import { appendFileSync, writeSync } from 'node:fs';
import { relative } from 'node:path';
import {
  DefaultReporter,
  type SerializedError,
  type TestCase,
  type TestModule,
  type TestRunEndReason,
  type TestSpecification,
} from 'vitest/node';
import type { Skipped } from './needs';

/**
 * Says little: how far a run is, each failure once, at the end, with the command that repeats it, and what was skipped
 * for want of what. In CI, a skip of which `needs.ts` does not know fails the run.
 */
export default class Reporter extends DefaultReporter {
  private readonly state = { files: 0, ended: 0, tenth: 0 };

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    this.state.files = specifications.length;
  }

  /** Files that pass are not worth a line; those that fail are told of at the end. */
  override printTestModule(): void {}

  override onTestModuleEnd(module: TestModule): void {
    super.onTestModuleEnd(module);
    const { state } = this;
    state.ended += 1;
    const tenth = Math.floor((10 * state.ended) / state.files);
    if (this.isTTY || state.files < 20 || tenth === state.tenth) return;
    state.tenth = tenth;
    this.log(`${state.ended} of ${state.files} files`);
  }

  override onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    super.onTestRunEnd(modules, errors, reason);
    this.tellFailures(modules);
    if (errors.length > 0) noteFailure('an unhandled error');
    this.tellSkips(modules);
  }

  private tellFailures(modules: readonly TestModule[]): void {
    const failed = modules.filter((module) => module.state() === 'failed');
    if (failed.length === 0) return;
    const seed = `PWPUSH_TEST_SEED=${process.env.PWPUSH_TEST_SEED}`;
    this.error('to repeat what failed:');
    for (const module of failed) {
      const names = [...module.children.allTests('failed')].map(({ fullName }) => fullName);
      const file = relative(process.cwd(), module.moduleId);
      const [name] = names;
      const one = name && names.length === 1 ? ` -t ${quoted(literally(name))}` : '';
      this.error(`  ${seed} npx vitest run ${file}${one}`);
      noteFailure(file);
    }
  }

  private tellSkips(modules: readonly TestModule[]): void {
    const missing = new Map<string, number>();
    const { tagsFilter, testNamePattern } = this.ctx.config;
    for (const test of modules.flatMap((module) => [...module.children.allTests('skipped')])) {
      if (tagsFilter && !test.tags.some((tag) => tagsFilter.includes(tag))) continue;
      const skipped = reasonOf(test);
      if (!skipped && !testNamePattern && process.env.PWPUSH_TEST_ALL === '1')
        failRun(`skipped without a reason: ${test.fullName}`);
      if (skipped && !skipped.elsewhere) missing.set(skipped.without, (missing.get(skipped.without) ?? 0) + 1);
    }
    const counted = [...missing].sort().map(([name, count]) => `${name} (${count})`);
    if (missing.size > 0) this.log(`not tried, as there is no ${counted.join(', ')}`);
  }
}

/** For `.ci/run`, which runs files again that failed, but tries nothing else twice. */
function noteFailure(what: string): void {
  const { PWPUSH_TEST_FAILED: list } = process.env;
  if (list) appendFileSync(list, `${what}\n`);
}

const literally = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Fails the run for what is no failure of a test, and so has no second try in `.ci/run`. */
export function failRun(why: string): void {
  // What is written through the console now is lost if the run ends before it is drawn.
  writeSync(process.stderr.fd, `${why}\n`);
  process.exitCode = 1;
  noteFailure(`run: ${why.split('\n', 1)}`);
}

/** Why a test is skipped, if it says so. */
export function reasonOf(test: TestCase): Skipped | undefined {
  const { skipped } = test.meta() as { skipped?: Skipped };
  if (skipped) return skipped;
  const result = test.result();
  const without = result?.state === 'skipped' ? result.note : undefined;
  return without === undefined ? undefined : { without, elsewhere: false };
}

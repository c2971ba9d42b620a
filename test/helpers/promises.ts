import { appendFileSync } from 'node:fs';
import { basename, relative, sep } from 'node:path';
import type { Reporter, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node';
import { complaint, isTable, lineOf, type Promised, patternOf, promises } from '../../.ci/promises.mjs';
import type { Skipped } from './needs';
import { reasonOf } from './reporter';

export interface Outcome {
  readonly file: string;
  readonly name: string;
  readonly fullName: string;
  readonly state: ReturnType<TestCase['result']>['state'];
  readonly skipped?: Skipped | undefined;
}

/** The tests of `cases.test.ts` have the names of transcripts. */
function witnesses({ file, title }: Promised, test: Outcome): boolean {
  if (file.endsWith('.txt')) return /^test\/cases\.(\w+\.)?test\.ts$/.test(test.file) && test.name === basename(file);
  return test.file === file && (title === '' || patternOf(title).test(test.fullName));
}

/**
 * Which promises have a test that passed, of a table or a file all, and which do not though their files were run as a
 * whole, or whose name several have. A reason to skip such a test counts if it is that another run has it, or, unless
 * that is strict, that a tool is missing.
 */
export function judge(
  all: readonly Promised[],
  whole: ReadonlySet<string>,
  tests: readonly Outcome[],
  strict: boolean,
) {
  const judged = all.map((promise) => ({
    promise,
    own: tests.filter((test) => witnesses(promise, test)),
  }));
  const passes = ({ state }: Outcome) => state === 'passed';
  const stands = (test: Outcome) => passes(test) || (test.skipped && (test.skipped.elsewhere || !strict));
  const isOpen = ({ promise: { file, title }, own }: (typeof judged)[number]) =>
    own.length > 0 &&
    own.every(stands) &&
    (own.length === 1 || title === '' || isTable(title) || file.endsWith('.txt'));
  return {
    witnessed: judged.filter((one) => isOpen(one) && one.own.some(passes)).map(({ promise }) => promise),
    missing: judged
      .filter(({ promise, own }) => whole.has(promise.file) || own.some(({ file }) => whole.has(file)))
      .filter((one) => !isOpen(one))
      .map(({ promise }) => promise),
  };
}

/** Fails a run in which no test of a promise passed, though its file was run. */
export default class PromisesReporter implements Reporter {
  private vitest: Vitest | undefined;
  private partly = new Set<string>();

  onInit(vitest: Vitest): void {
    this.vitest = vitest;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    const chosen = specifications.filter(({ testLines, testIds }) => (testLines ?? testIds ?? []).length > 0);
    this.partly = new Set(chosen.map(({ moduleId }) => moduleId));
  }

  onTestRunEnd(modules: readonly TestModule[], _errors: unknown, reason: string): void {
    const pathOf = ({ moduleId, project }: TestModule) => relative(project.config.root, moduleId).replaceAll(sep, '/');
    const filtered =
      this.vitest?.getGlobalTestNamePattern() || this.vitest?.config.tagsFilter?.length || reason === 'interrupted';
    const whole = modules.filter(({ moduleId }) => !filtered && !this.partly.has(moduleId));
    const tests = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => outcomeOf(test, pathOf(module))),
    );
    const strict = process.env.PWPUSH_TEST_ALL === '1';
    const { witnessed, missing } = judge(promises(), new Set(whole.map(pathOf)), tests, strict);
    const results = process.env.PWPUSH_TEST_RESULTS;
    // In one piece, as several runs may write at once.
    if (results) appendFileSync(results, witnessed.map((one) => `${lineOf(one)}\n`).join(''));
    for (const promise of missing) console.error(complaint(promise));
    if (missing.length > 0) process.exitCode = 1;
  }
}

function outcomeOf(test: TestCase, file: string): Outcome {
  const { name, fullName } = test;
  return { file, name, fullName, state: test.result().state, skipped: reasonOf(test) };
}

import { beforeEach } from 'vitest';
import { type Needs, only } from './needs';
import { seed } from './seed';

/** Whether the long versions of tests run, as they do once in `.ci/run`: `PWPUSH_TEST_LONG=1`. */
export const long = process.env.PWPUSH_TEST_LONG === '1';

/** Tests that take long. */
export const onlyLong = only('PWPUSH_TEST_LONG=1', long);

/** How often something is tried: an eighth of the times in a short run. */
export const times = (whole: number): number => (long ? whole : Math.ceil(whole / 8));

/**
 * All of them; in a short run one of that many parts. Which elements a part has depends on the seed, so that many runs
 * try all.
 */
export const partOf = <const T>(
  all: readonly T[],
  part: number,
  parts = all.length,
): readonly T[] => all.filter((_, index) => long || (index + part + seed) % parts === 0);

/** Runs in one of that many short runs, for what takes long and resembles something else; the seed says in which. */
export const inTurn = (part: number, parts = 2): Needs =>
  only('another PWPUSH_TEST_SEED', long || (part + seed) % parts === 0);

/** Set by `npm test` for the whole suite: a file that is run by itself runs all of its tests. */
const turning = !long && process.env.PWPUSH_TEST_TURNS === '1';

/**
 * Runs each test of the file or group in one of that many short runs, for those that take long and have relatives in
 * other files. Neighbours run in different ones, and the seed says in which.
 */
export function inTurns(parts = 3, first = 0): void {
  if (!turning) return;
  beforeEach(({ task, skip }) => {
    const at = (task.suite ?? task.file).tasks.indexOf(task);
    if ((at + first + seed) % parts === 0) return;
    task.meta.skipped = { without: 'another PWPUSH_TEST_SEED', elsewhere: true };
    skip();
  });
}

import { only } from './needs';
import { seed } from './seed';

/** Whether the long versions of tests run, as they do once in `.ci/run`: `PWPUSH_TEST_LONG=1`. */
export const long = process.env.PWPUSH_TEST_LONG === '1';

export const onlyLong = only('PWPUSH_TEST_LONG=1', long);

/** How often something is tried: an eighth of the times in a short run. */
export const times = (whole: number): number => (long ? whole : Math.ceil(whole / 8));

/**
 * All of them; in a short run one of that many parts. Which elements a part has depends on the seed, so that many runs
 * try all.
 */
export const partOf = <const T>(all: readonly T[], part: number, parts = all.length): readonly T[] =>
  all.filter((_, index) => long || (index + part + seed) % parts === 0);

/** Each of so many of them, one at least; the seed says where it begins, so that many runs try all. */
export const inSteps = <T>(all: readonly T[], step: number): readonly T[] => {
  const first = seed % Math.min(step, all.length);
  return all.filter((_, index) => index % step === first);
};

export const upTo = (last: number): number[] => Array.from({ length: last }, (_, at) => at + 1);

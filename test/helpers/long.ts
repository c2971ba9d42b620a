import { only } from './needs';

/** Whether the long versions of tests run, as they do once in `.ci/run`: `PWPUSH_TEST_LONG=1`. */
export const long = process.env.PWPUSH_TEST_LONG === '1';

/** Tests that take long. */
export const onlyLong = only('PWPUSH_TEST_LONG=1', long);

/** How often something is tried: an eighth of the times in a short run. */
export const times = (whole: number): number => (long ? whole : Math.ceil(whole / 8));

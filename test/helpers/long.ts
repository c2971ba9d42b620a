/** Whether the long versions of tests run, as they do once in `.ci/run`: `PWPUSH_TEST_LONG=1`. */
export const long = process.env.PWPUSH_TEST_LONG === '1';

/** How often something is tried: an eighth of the times in a short run. */
export const times = (whole: number): number => (long ? whole : Math.ceil(whole / 8));

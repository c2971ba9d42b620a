/** Another one in each run, which prints it; `PWPUSH_TEST_SEED` repeats it. */
export const seed = Number(process.env.PWPUSH_TEST_SEED);

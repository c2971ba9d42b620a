/** Another one each time, which failures name; `PWPUSH_TEST_SEED` repeats it. */
export const seed = Number(process.env.PWPUSH_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

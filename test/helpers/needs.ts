import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Whether tests are skipped because what they need is not there. In CI (`PWPUSH_TEST_ALL=1`) they fail instead. */
export const skipsWithout = (there: unknown): boolean =>
  !there && process.env.PWPUSH_TEST_ALL !== '1';

/** Whether the tests of these programs are skipped. */
export const lacks = (...programs: string[]): boolean => skipsWithout(programs.every(onPath));

function onPath(program: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) =>
    [program, `${program}.exe`].some((name) => existsSync(join(folder, name))),
  );
}

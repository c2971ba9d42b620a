import { fstatSync, readFileSync, writeSync } from 'node:fs';
import { version } from './package-version';

/** The device number of /dev/null (null(4)). */
const NULL = 0x103;

/**
 * Prints the version before anything else is loaded. Returns false where the program does it as it prints all else:
 * after an error, and for a standard output that may have been closed, as `stdio.ts` has it.
 */
export function printVersion(): boolean {
  try {
    const isNull = fstatSync(1).rdev === NULL;
    if (isNull && !/^flags:\s*\d*1$/m.test(readFileSync('/proc/self/fdinfo/1', 'utf8')))
      return false;
    writeSync(1, `${version}\n`);
    return true;
  } catch {
    return false;
  }
}

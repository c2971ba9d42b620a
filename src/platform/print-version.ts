import { writeSync } from 'node:fs';
import { wasClosed } from './descriptors';
import { version } from './package-version';

/** Prints the version before anything else is loaded; false after an error, which the program prints as all others. */
export function printVersion(node: NodeJS.Process): boolean {
  try {
    if (wasClosed(node, 1)) return false;
    writeSync(1, `${version}\n`);
    return true;
  } catch {
    return false;
  }
}

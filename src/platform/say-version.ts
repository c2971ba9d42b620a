import { version } from './package-version';
import { output } from './stdio';

/** The whole of `--version`, which takes 1.05 of a bare Node.js because nothing else is loaded. Throws if it cannot be written. */
export async function sayVersion(node: NodeJS.Process): Promise<0> {
  await output(node, 1, () => false).write(`${version}\n`);
  return 0;
}

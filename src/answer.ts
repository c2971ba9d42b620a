import { version } from './package-version';
import { output } from './system/stdio';

/** `--version` alone, the common question: it deserves no more than its answer. Rejects when that cannot be written. */
export async function sayVersion(node: NodeJS.Process): Promise<0> {
  await output(node, 1, () => false).write(`${version}\n`);
  return 0;
}

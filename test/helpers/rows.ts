import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const script = fileURLToPath(new URL('print-rows.mjs', import.meta.url));

/** The rows of each statement on a SQLite file, from a process that has closed it again; blobs in base64. */
export async function rowsOf(path: string, ...statements: readonly string[]): Promise<object[][]> {
  const words = ['--no-warnings', script, path, ...statements];
  const options = { maxBuffer: 2 ** 28 };
  const { stdout } = await promisify(execFile)(process.execPath, words, options);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

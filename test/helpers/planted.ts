import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from 'vitest';
import { caches, launcher } from './program';

const config = fileURLToPath(new URL('planted.config.mjs', import.meta.url));
const rolldown = join(caches, '../rolldown/bin/cli.mjs');

/** What starts a program with planted faults, of which the variable PLANTED chooses one; known once the tests run. */
export function planted(): readonly string[] {
  let folder: string;
  const words = [process.execPath];
  beforeAll(async () => {
    // From here its packages are found.
    folder = await mkdtemp(join(caches, 'planted-'));
    const env = { ...process.env, PLANTED_INTO: folder };
    const build = [rolldown, '--logLevel', 'silent', '-c', config];
    await promisify(execFile)(process.execPath, build, { env });
    words.push(join(folder, 'bin/pwpush.js'));
    await cp(launcher, words[1] as string);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return words;
}

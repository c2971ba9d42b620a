// What binary.mjs and deb.mjs share: names, versions and texts of what they put into build/.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

export const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The version of the runtime that is compiled in. */
export const BUN = '1.4.5';

export function run(file, words, options = {}) {
  return execFileSync(file, words, { encoding: 'utf8', maxBuffer: 2 ** 30, ...options });
}

/** Seconds since 1970 for everything that is packed, so that it is the same when it is built again. */
export const builtAt = Number(
  process.env.SOURCE_DATE_EPOCH ?? run('git', ['-C', root, 'log', '-1', '--format=%ct']),
);

/** How the names of executables end on a platform. */
export const suffixOf = (platform) => (platform.startsWith('windows') ? '.exe' : '');

export const executableOf = (platform) =>
  join(root, 'build', `pwpush-${platform}${suffixOf(platform)}`);

/** The completion script of a shell, as the program prints it. */
export const completion = (shell) =>
  run(process.execPath, [join(root, 'bin/pwpush.js'), 'completion', shell]);

/** Prints the path and size of a file that was made. */
export const listed = (path) =>
  console.log(`${relative(root, path)}  ${(statSync(path).size / 2 ** 20).toFixed(1)} MiB`);

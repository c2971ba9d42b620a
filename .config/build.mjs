// What binary.mjs and deb.mjs share: names, versions and texts of what they put into build/.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
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
export const builtAt = Number(process.env.SOURCE_DATE_EPOCH ?? sourceTime());

/** That of the commit. Archives of the source have no repository; their files have the time of the commit. */
function sourceTime() {
  if (existsSync(join(root, '.git'))) return run('git', ['-C', root, 'log', '-1', '--format=%ct']);
  return Math.floor(statSync(join(root, 'package.json')).mtimeMs / 1000);
}

/** Where the licences of the runtime are. */
export const BUN_LICENSES = 'https://github.com/oven-sh/bun/blob/main/LICENSE.md';

/** What is told of the runtime, which has many licences. */
export const aboutRuntime = `The runtime, Bun ${BUN}, is under the Expat license. It statically links
JavaScriptCore of WebKit (LGPL-2), TinyCC (LGPL-2.1), BoringSSL, ICU, c-ares,
mimalloc, zstd, zlib-ng, brotli, libarchive, simdutf, uSockets and others.

${BUN_LICENSES} lists all of them with
their licenses, and says where their sources are and how to link them again.
`;

/** The notices of an executable: those of the bundled packages, and the runtime. */
export function notices() {
  const packages = readFileSync(join(root, 'dist/THIRD-PARTY-NOTICES'), 'utf8');
  const holders = 'Copyright Oven, and the authors of the libraries that it links';
  const runtime = `Bun ${BUN} (MIT, LGPL-2.0, LGPL-2.1 and others)\n\n${holders}\n\n${aboutRuntime}`;
  return `${packages}\n${'-'.repeat(80)}\n\n${runtime}`;
}

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

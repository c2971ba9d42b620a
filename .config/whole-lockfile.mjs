// Adds to package-lock.json the binaries for other platforms that a partial registry did not have when it was
// written. `npm ci` refuses a lockfile without them, and installs none but this platform's. Asks the registry for the
// integrity of all that lack it, which npm does not do again, and lists those that the registry does not have.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = fileURLToPath(new URL('../package-lock.json', import.meta.url));
const lock = JSON.parse(readFileSync(path, 'utf8'));

const systems = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const processors = [
  'arm64',
  'x64',
  'ia32',
  'arm',
  'ppc64',
  's390x',
  'riscv64',
  'loong64',
  'mips64el',
  'wasm32',
];

/** What npm would have written for `@scope/tool-linux-x64-musl`, but for its integrity. */
function entry(name, version, parent) {
  const words = name.split('/').at(-1).split('-');
  const os = words.find((word) => systems.includes(word));
  const cpu =
    words.find((word) => processors.includes(word)) ?? (/eabi/.test(name) ? 'arm' : undefined);
  const c = words.some((word) => word.startsWith('musl')) ? 'musl' : 'glibc';
  const libc = os === 'linux' && /-(musl|gnu)/.test(name) ? [c] : undefined;
  return {
    version,
    cpu: cpu && [cpu],
    dev: parent.dev,
    libc,
    license: parent.license,
    optional: true,
    os: os && [os],
  };
}

for (const [at, parent] of Object.entries(lock.packages)) {
  if (at === '') continue;
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const known =
      lock.packages[`${at}/node_modules/${name}`] ?? lock.packages[`node_modules/${name}`];
    if (known === undefined) lock.packages[`node_modules/${name}`] = entry(name, version, parent);
  }
}
const without = [];
for (const [at, { version, integrity, ...rest }] of Object.entries(lock.packages)) {
  if (at === '' || integrity !== undefined) continue;
  const name = `${at.split('node_modules/').at(-1)}@${version}`;
  const { stdout } = spawnSync('npm', ['view', name, 'dist.integrity'], { encoding: 'utf8' });
  const found = /^sha512-\S+$/m.exec(stdout)?.[0];
  if (found === undefined) without.push(name);
  lock.packages[at] = { version, integrity: found, ...rest };
}
if (without.length > 0)
  console.log(`without integrity, as the registry lacks them:\n${without.join('\n')}`);
// The bundler asks for Node.js 20.19 and runs on 20.18.1 all the same, which we promise; npm would leave its binary
// out there without a word.
for (const [at, one] of Object.entries(lock.packages)) {
  if (at.startsWith('node_modules/@rolldown/binding-')) one.engines = undefined;
}
const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
writeFileSync(
  path,
  `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`,
);

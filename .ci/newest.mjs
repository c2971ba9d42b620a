// Builds and runs pwpush with the newest version of each dependency that admits the oldest Node.js we promise, in a copy
// of the tree. Needs a registry; .ci/run calls it if PWPUSH_TEST_NEWEST is set.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = (cwd, program, ...words) => execFileSync(program, words, { cwd, encoding: 'utf8' });
const { satisfies, gt, prerelease } = createRequire(
  join(run(root, 'npm', 'root', '--global').trim(), 'npm/'),
)('semver');

const { engines, devDependencies, optionalDependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);
const oldest = engines.node.replace('>=', '');

/** The versions from `current` on; npm prints a single one as an object. */
function versions(name, current) {
  const words = ['view', `${name}@>=${current}`, 'name', 'version', 'engines', '--json'];
  return [JSON.parse(run(root, 'npm', ...words))].flat();
}

/** The newest stable version for that Node.js; the current one, if there is none. */
function newest(name, current) {
  const fitting = versions(name, current).filter(
    ({ version, engines }) => !prerelease(version) && satisfies(oldest, engines?.node || '*'),
  );
  return fitting.reduce((best, { version }) => (gt(version, best) ? version : best), current);
}

const all = { ...devDependencies, ...optionalDependencies };
// Types follow the version of Node.js itself.
const names = Object.keys(all).filter((name) => !name.startsWith('@types/'));
const changed = names
  .map((name) => ({ name, from: all[name], to: newest(name, all[name]) }))
  .filter(({ from, to }) => from !== to);
for (const { name, from, to } of changed) console.log(`${name} ${from} → ${to}`);
if (changed.length === 0) console.log(`all dependencies are the newest for Node.js ${oldest}`);
else {
  const copy = mkdtempSync(join(tmpdir(), 'pwpush-newest-'));
  try {
    run(root, 'git', 'checkout-index', '--all', `--prefix=${copy}/`);
    run(copy, 'npm', 'install', ...changed.map(({ name, to }) => `${name}@${to}`));
    run(copy, 'npm', 'run', 'build');
    run(copy, 'npm', 'run', 'demo');
  } finally {
    rmSync(copy, { recursive: true });
  }
}

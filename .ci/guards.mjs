// What must not get lost by accident: how soon the program is there, and how little there is to install.
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const RATIO = 1.4;
const KIB = 600;
const RUNS = 31;

const root = fileURLToPath(new URL('..', import.meta.url));
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;

function milliseconds(words) {
  const start = process.hrtime.bigint();
  const { status } = spawnSync(process.execPath, words, { cwd: root, env });
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}`);
  return Number(process.hrtime.bigint() - start) / 1e6;
}

const bare = [];
const ours = [];
for (let run = 0; run < RUNS; run++) {
  bare.push(milliseconds(['-e', '0']));
  ours.push(milliseconds(['bin/pwpush.js', '--version']));
}
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const ratio = median(ours) / median(bare);

const packing = ['pack', '--dry-run', '--json', '--ignore-scripts'];
const packed = JSON.parse(execFileSync('npm', packing, { cwd: root, encoding: 'utf8' }));
// An array in some versions of npm, an object by name in others.
const { size } = Object.values(packed)[0];

console.log(
  `--version takes ${ratio.toFixed(2)} of a bare Node; the package has ${(size / 1024).toFixed(0)} KiB`,
);
if (ratio > RATIO) throw new Error(`--version takes more than ${RATIO} of a bare Node`);
if (size > KIB * 1024) throw new Error(`the package has more than ${KIB} KiB`);

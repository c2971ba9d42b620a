// How long the program takes to be there, as ratios to `node -e 0` of the same Node: interleaved runs, medians.
// Usage: npm run bench [runs]
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const runs = Number(process.argv[2] ?? 30);
const program = fileURLToPath(new URL('../../bin/pwpush.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'pwpush-bench-'));
// NODE_EXTRA_CA_CERTS costs Node 20 50 ms a start wherever it is set; nothing of the caller's gets in.
const env = {
  PATH: process.env.PATH,
  PWPUSH_CONFIG_DIR: folder,
  PWPUSH_STATE_DIR: folder,
  NO_PROXY: '*',
};

const service = spawn(
  process.execPath,
  [program, 'serve', '--data', join(folder, 'data'), '--port', '0', '--quiet'],
  {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  },
);
await new Promise((resolve) => createInterface({ input: service.stdout }).once('line', resolve));

/** Runs once; returns milliseconds and stdout. */
function time(words, input = '') {
  const start = process.hrtime.bigint();
  const { status, stdout } = spawnSync(process.execPath, words, { env, input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}`);
  return { milliseconds: Number(process.hrtime.bigint() - start) / 1e6, stdout: stdout.trim() };
}

const pwpush = (...words) => [program, ...words];
const link = time(pwpush('push', '--views', '100'), 'secret').stdout;
const cases = {
  'node -e 0': [['-e', '0']],
  'pwpush --version': [pwpush('--version')],
  'pwpush --help': [pwpush('--help')],
  'pwpush push --help': [pwpush('push', '--help')],
  'pwpush push (piped, loopback)': [pwpush('push'), 'secret'],
  'pwpush preview (loopback)': [pwpush('preview', link)],
  'pwpush get (loopback)': [pwpush('get', link)],
};

const times = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
try {
  for (let run = 0; run < runs + 2; run++) {
    for (const [name, [words, input]] of Object.entries(cases)) {
      const { milliseconds } = time(words, input);
      // The first two rounds warm the caches of the file system.
      if (run >= 2) times[name].push(milliseconds);
    }
  }
} finally {
  service.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const bare = median(times['node -e 0']);
console.log(`Node ${process.version}, ${cpus().length} cores, ${runs} interleaved runs, medians\n`);
for (const [name, list] of Object.entries(times)) {
  const ms = median(list);
  console.log(
    `${name.padEnd(32)} ${ms.toFixed(1).padStart(7)} ms   ${(ms / bare).toFixed(2).padStart(5)}`,
  );
}

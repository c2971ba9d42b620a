// The tests, and beside them the checks, which leave a core half of the time. Names of files select tests.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const vitest = join(
  dirname(createRequire(import.meta.url).resolve('vitest/package.json')),
  'vitest.mjs',
);
const selected = process.argv.slice(2);
// The whole suite: tests that take long run in turn, others each time.
if (selected.length === 0) process.env.PWPUSH_TEST_TURNS ??= '1';

const ended = (child) =>
  new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
const check = spawn('npm', ['run', '--silent', 'check'], { shell: process.platform === 'win32' });
const said = [];
for (const stream of [check.stdout, check.stderr]) stream.on('data', (data) => said.push(data));
const words = [vitest, 'run', '--config', '.config/vitest.config.mts', ...selected];
const tests = spawn(process.execPath, words, { stdio: 'inherit' });
const [checked, tested] = await Promise.all([ended(check), ended(tests)]);
process.stdout.write(Buffer.concat(said));
process.exitCode = checked || tested;

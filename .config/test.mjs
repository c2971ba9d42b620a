// The tests, and beside them the checks, which leave a core half of the time. Names of files select tests; --all adds the
// tests that are slow or need other programs to those that npm test runs.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const vitest = join(
  dirname(createRequire(import.meta.url).resolve('vitest/package.json')),
  'vitest.mjs',
);
const words = process.argv.slice(2);
const all = words.includes('--all');
const selected = words.filter((word) => word !== '--all');
const fast = !all && selected.length === 0;
if (fast)
  console.log('types, lint and the fast tests, all of them: about two minutes on two cores');
if (all) console.log('types, lint and all tests: about fifteen minutes on two cores');

const ended = (child) =>
  new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
const check = spawn('npm', ['run', '--silent', 'check'], { shell: process.platform === 'win32' });
const said = [];
for (const stream of [check.stdout, check.stderr]) stream.on('data', (data) => said.push(data));
const projects = fast ? ['--project', 'fast*'] : [];
const tests = spawn(process.execPath, [vitest, 'run', ...projects, ...selected], {
  stdio: 'inherit',
});
const [checked, tested] = await Promise.all([ended(check), ended(tests)]);
process.stdout.write(Buffer.concat(said));
const { PWPUSH_TEST_FAILED: list } = process.env;
if (checked && list) appendFileSync(list, 'npm run check\n');
if (checked) console.log('npm run check failed: see above');
if (fast)
  console.log(
    'npm run test:all adds PostgreSQL, browsers, crashes, power loss and the built program in shells and terminals',
  );
process.exitCode = checked || tested;

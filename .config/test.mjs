// The build, then the tests, and beside them the checks, which leave a core half of the time; what builds and checks print
// is shown if they fail. Names of files select tests; --all adds those that are slow or need other programs.
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
if (fast) console.log('build, types, lint and all fast tests: about two minutes on two cores');
if (all) console.log('build, types, lint and all tests: about fifteen minutes on two cores');

const ended = (child) =>
  new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));

async function quietly(script) {
  const child = spawn('npm', ['run', '--silent', script], { shell: process.platform === 'win32' });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => said.push(data));
  const code = await ended(child);
  return code === 0 ? '' : `${Buffer.concat(said)}\nfailed: npm run ${script}\n`;
}

async function run() {
  const unbuilt = await quietly('build');
  if (unbuilt) return unbuilt;
  const checked = quietly('check');
  const projects = fast ? ['--project', 'fast*'] : [];
  const tests = [vitest, 'run', ...projects, ...selected];
  const tested = await ended(spawn(process.execPath, tests, { stdio: 'inherit' }));
  if (tested !== 0) process.exitCode = tested;
  return await checked;
}

const failure = await run();
if (failure) {
  console.error(failure);
  process.exitCode = 1;
  const { PWPUSH_TEST_FAILED: list } = process.env;
  if (list) appendFileSync(list, 'build or checks\n');
}
if (fast)
  console.log(
    'npm run test:all adds PostgreSQL, browsers, crashes, power loss and the built program in shells and terminals',
  );

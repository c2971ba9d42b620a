import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folders } from './helpers/memory';
import { allOf, needs, needsPrograms } from './helpers/needs';

const root = join(import.meta.dirname, '..');
const newFolder = folders(tmpdir());

const run = (folder: string, command: string, env: Record<string, string> = {}) =>
  spawnSync(command, { shell: true, cwd: folder, encoding: 'utf8', env: { ...inherited, ...env } });
/** Without what a run of the tests sets. */
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:PWPUSH|VITEST|NODE_ENV|npm_(?!config_))/.test(name)),
);
const registry = needs('a registry of packages', run(root, 'npm ping').status === 0);

const needed = allOf(needsPrograms('git'), registry);
test('the first line of the README does its job in a clone, leaving nothing', needed, async () => {
  const folder = await newFolder();
  const [clone, temporary] = [join(folder, 'clone'), join(folder, 'tmp')];
  mkdirSync(temporary);
  expect(run(folder, `git clone --quiet "file://${root}" clone`).status).toBe(0);
  const [line = ''] = /(?<=^```sh\n).*/m.exec(readFileSync(join(clone, 'README.md'), 'utf8')) ?? [];
  expect(line).toContain('npm run demo');
  const { status, stdout, stderr } = run(clone, line, { TMPDIR: temporary });
  expect(status, `${stdout}${stderr}`).toBe(0);
  // In this order: pushed with a link, retrieved, and refused the second time.
  expect(stdout).toMatch(
    /pwpush push .*\/p\/.*pwpush get .*\ncorrect horse battery staple\n.*pwpush get .*ended with 6/s,
  );
  expect(stderr).toContain('the push has expired');
  expect(readdirSync(temporary).filter((name) => name.startsWith('pwpush'))).toEqual([]);
  expect(run(clone, 'git status --porcelain').stdout).toBe('');
});

import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dist, person, serving } from '../helpers/program';

const somebody = person();
const service = serving(somebody.env);

test('the build requires modules of Node, its own files and libsql, and nothing else', () => {
  const files = readdirSync(dist).filter((name) => name.endsWith('.js'));
  const required = files.flatMap((name) => {
    const calls = readFileSync(join(dist, name), 'utf8').matchAll(/\b(require|import)\(([^)]*)\)/g);
    return [...calls].map(([, how, of = '']) => ({ name, how, what: of.slice(1, -1), of }));
  });
  const strange = required.filter(
    ({ how, what }) => how === 'import' || !(isBuiltin(what) || files.includes(what.slice(2))),
  );
  // The text of code that ajv can write, which nothing runs.
  const loaded = strange.filter(({ of }) => !/^"ajv[/-]/.test(of));
  expect(loaded.map(({ name, of }) => `${name}: ${of}`)).toEqual([
    // What the loader hands on from the files it loads.
    'load.js: e',
    'service.js: "libsql"',
  ]);
});

test('the packed tarball installs without a network and a warning, and pushes on its own', async () => {
  const { folder, env } = somebody;
  const run = (program: string, words: readonly string[], input = '') =>
    execFileSync('sh', ['-c', '"$0" "$@" 2>&1', program, ...words], {
      cwd: folder,
      env: { ...env, npm_config_update_notifier: 'false' },
      input,
      encoding: 'utf8',
    });
  const root = join(dist, '..');
  const tarball = run('npm', ['pack', '--silent', '--ignore-scripts', root]).trim();
  // libsql is optional, and is not at hand without a network.
  const quick = ['--offline', '--omit=optional', '--no-audit', '--no-fund'];
  const words = ['install', '--global', ...quick, '--prefix', folder, `./${tarball}`];
  expect(run('npm', words)).toMatch(/^\s*added 1 package in \S+\s*$/);
  const installed = join(folder, 'bin/pwpush');
  expect(realpathSync(installed).startsWith(realpathSync(folder))).toBe(true);
  const link = run(installed, ['push', '--url', service.url], 'hunter2').trim();
  expect(link).toMatch(new RegExp(`^${service.url}/p/\\S+$`));
  expect(run(installed, ['get', '--quiet', link])).toBe('hunter2');
  // Node.js has its own from 22.13 on; where npm left libsql out, the command that is named brings it.
  if (!isBuiltin('node:sqlite')) {
    const doctor = ['doctor', '--url', service.url];
    const command = `npm install --global --prefix '${realpathSync(folder)}' libsql\n`;
    expect(run(installed, doctor)).toMatch(/^warning\tsqlite\t/m);
    expect(run(installed, doctor)).toContain(`: ${command}`);
    symlinkSync(join(root, 'node_modules/libsql'), join(folder, 'lib/node_modules/libsql'));
    expect(run(installed, doctor)).toMatch(/^ok\tsqlite\t/m);
  }
  const required = spawnSync(process.execPath, ['-e', "require('pwpush')"], {
    env: { ...env, NODE_PATH: join(folder, 'lib/node_modules') },
    encoding: 'utf8',
  });
  expect(required.stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED');
});

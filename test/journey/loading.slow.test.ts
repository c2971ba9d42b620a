import { execFileSync } from 'node:child_process';
import { builtinModules } from 'node:module';
import { expect, test } from 'vitest';
import { dist, launcher, person, pushed, serving } from '../helpers/program';

const somebody = person();
const service = serving(somebody.env);

const moduleNames = (list: readonly string[]) => list.map((module) => module.replace('NativeModule ', ''));

/** What a Node has that does nothing; its lines differ in this. */
const bare = moduleNames(
  execFileSync(process.execPath, ['-p', 'process.moduleLoadList.join()'], { encoding: 'utf8' }).trim().split(','),
);

/** The chunks of the build, and the modules of Node that programs can name, that a run loads besides. */
function loads(words: readonly string[]) {
  const script = `
    const fs = require('node:fs');
    const { readFileSync } = fs;
    const chunks = [];
    fs.readFileSync = (path, ...how) => {
      if (String(path).startsWith(${JSON.stringify(dist)})) chunks.push(path);
      return readFileSync(path, ...how);
    };
    process.on('exit', (status) => {
      fs.writeSync(2, '\\n' + JSON.stringify({ status, chunks, node: process.moduleLoadList }));
      process.exitCode = 0;
    });
    process.argv.splice(1, 1, 'pwpush', ...JSON.parse(process.argv[1]));
    require(${JSON.stringify(launcher)});`;
  const line = `printf s | "$0" -e "$SCRIPT" "$WORDS" 2>&1 >/dev/null`;
  const env = { ...somebody.env, SCRIPT: script, WORDS: JSON.stringify(words) };
  const told = execFileSync('sh', ['-c', line, process.execPath], { env, encoding: 'utf8' });
  const { status, chunks, node } = JSON.parse(told.trim().split('\n').at(-1) ?? '');
  expect(status).toBe(0);
  const own = builtinModules.filter((name) => !bare.includes(name) && name !== 'process');
  return {
    chunks: chunks.map((path: string) => path.slice(dist.length).replace(/\d*\.js$/, '')).sort(),
    node: moduleNames(node).filter((name) => own.includes(name)),
  };
}

/** What several command lines load: every run of a command, every call of an instance, and so on. */
const groups: Record<string, string> = {
  FRAME: 'load rolldown-runtime start streams',
  CALL: 'FRAME instance llhttp.wasm undici',
  TABLE: 'listings table',
  NET: 'diagnostics_channel net stream stream/promises string_decoder',
  WASM: 'NET v8 vm',
};
const inGroups = (names: string): string[] =>
  names.split(' ').flatMap((name) => (groups[name] ? inGroups(groups[name]) : name));

/** What each command line loads, where LINK is that of a push, and the profile encrypts: an added chunk or module of Node is an added millisecond. */
const lines = `
--version                   | load                                                    | vm
--help                      | FRAME                                                   | vm
push --help                 | FRAME push                                              | vm
__complete push --          | FRAME complete push instance table                       | vm
push --no-encrypt           | CALL push share                                         | WASM
push                        | CALL push share age encryption                          | WASM crypto
push --dry-run --no-encrypt | FRAME dry-run push instance share                       | vm
push --qr --no-encrypt      | CALL push qr qr-matrix share                            | WASM
get LINK                    | CALL get taking                                         | WASM
preview LINK                | CALL TABLE preview progress                             | WASM
list                        | CALL TABLE list                                         | WASM
expire LINK                 | CALL expire in-order taking                             | WASM
mcp --help                  | FRAME mcp                                               | vm
mcp                         | FRAME mcp find-program safe-name secret-forms serve-tools instance | NET crypto fs/promises os vm
profile set work days 3     | FRAME TABLE atomic-file profile instance source store system-keyring | WASM assert crypto fs/promises os
`;
const rows = [...lines.matchAll(/^(.*?) +\| (.*?) +\| (.*)$/gm)].map(([, ...row]) => row);

test.each(rows)('%s loads no other chunks and no other modules of Node', async (...row) => {
  const [line = '', chunks = '', node = ''] = row;
  const found = loads(line.replace('LINK', await pushed(service, 's')).split(' '));
  // Releases of Node differ in what a bare one has, and in the flags that we set; fs/promises of Node.js 24 loads os.
  const more = found.node.filter((module) => !inGroups(node).includes(module));
  expect([found.chunks, more]).toEqual([inGroups(chunks).sort(), []]);
});

import { execFileSync } from 'node:child_process';
import { builtinModules } from 'node:module';
import { expect, test } from 'vitest';
import { dist, launcher, person, pushed, pwpush, serving } from '../helpers/program';

const somebody = person();
const service = serving(somebody.env);

const moduleNames = (list: readonly string[]) =>
  list.map((module) => module.replace('NativeModule ', ''));

/** What a Node has that does nothing; its lines differ in this. */
const bare = moduleNames(
  execFileSync(process.execPath, ['-p', 'process.moduleLoadList.join()'], { encoding: 'utf8' })
    .trim()
    .split(','),
);

/** The chunks of the build, and the modules of Node that programs can name, that a run loads besides. */
function loads(words: readonly string[]) {
  const script = `
    const fs = require('node:fs');
    const { exit } = process;
    const { readFileSync } = fs;
    const chunks = [];
    fs.readFileSync = (path, ...how) => {
      if (String(path).startsWith(${JSON.stringify(dist)})) chunks.push(path);
      return readFileSync(path, ...how);
    };
    process.exit = (status) => {
      fs.writeSync(2, '\\n' + JSON.stringify({ status, chunks, node: process.moduleLoadList }));
      exit.call(process, 0);
    };
    process.argv.splice(1, 1, 'pwpush', ...JSON.parse(process.argv[1]));
    require(${JSON.stringify(launcher)});`;
  const line = `"$0" -e "$SCRIPT" "$WORDS" 2>&1 >/dev/null`;
  const env = { ...somebody.env, SCRIPT: script, WORDS: JSON.stringify(words) };
  const how = { env, input: 's', encoding: 'utf8' } as const;
  const told = execFileSync('sh', ['-c', line, process.execPath], how);
  const { status, chunks, node } = JSON.parse(told.trim().split('\n').at(-1) ?? '');
  expect(status).toBe(0);
  const own = builtinModules.filter((name) => !bare.includes(name) && name !== 'process');
  return {
    chunks: chunks.map((path: string) => path.slice(dist.length).replace(/\d*\.js$/, '')).sort(),
    node: moduleNames(node).filter((name) => own.includes(name)),
  };
}

/** Every run of a command: the frame of the command line. */
const frame = ['load', 'rolldown-runtime', 'start', 'streams'];
/** Every call of an instance. */
const call = [...frame, 'llhttp.wasm', 'session', 'typed', 'undici'];
const net = ['diagnostics_channel', 'net', 'stream', 'stream/promises', 'string_decoder'];

const table = ['listings', 'table'];

/** What each command line loads, where LINK is that of a push: an added chunk or module of Node is an added millisecond. */
const lines: readonly (readonly [
  line: string,
  chunks: readonly string[],
  node: readonly string[],
])[] = [
  ['--version', ['answer', 'load', 'streams'], ['vm']],
  ['--help', frame, ['vm']],
  ['push --help', [...frame, 'push', 'typed'], ['vm']],
  ['__complete push --', [...frame, 'complete', 'push', 'session', 'typed'], ['vm']],
  ['push', [...call, 'push', 'share'], [...net, 'assert', 'v8', 'vm']],
  ['push --dry-run', [...frame, 'dry-run', 'push', 'session', 'share', 'typed'], [...net, 'vm']],
  ['push --qr', [...call, 'push', 'qr', 'qr-matrix', 'share'], [...net, 'assert', 'v8', 'vm']],
  ['get LINK', [...call, 'get', 'taking'], [...net, 'assert', 'v8', 'vm']],
  [
    'show LINK',
    [...call, ...table, 'audit-log', 'progress', 'show'],
    [...net, 'assert', 'v8', 'vm'],
  ],
  ['list', [...call, ...table, 'list'], [...net, 'assert', 'v8', 'vm']],
  ['expire LINK', [...call, 'expire', 'in-order'], [...net, 'assert', 'v8', 'vm']],
  ['mcp --help', [...frame, 'mcp'], ['vm']],
  [
    'mcp',
    [...frame, 'mcp', 'safe-name', 'secret-forms', 'serve-tools', 'session', 'typed'],
    // fs/promises of Node.js 24 loads os.
    [...net, 'crypto', 'fs/promises', 'os', 'vm'],
  ],
  [
    'profile set days 3',
    [...frame, ...table, 'profile', 'profile-store', 'session', 'store', 'system-keyring', 'typed'],
    [...net, 'assert', 'crypto', 'os', 'vm'],
  ],
];

test.each(lines)('%s loads no other chunks and no other modules of Node', async (...row) => {
  const [line, chunks, node] = row;
  const found = loads(line.replace('LINK', await pushed(service, 's')).split(' '));
  // Releases of Node differ in what a bare one has, and in the flags that we set.
  const more = found.node.filter((module) => !node.includes(module));
  expect([found.chunks, more]).toEqual([[...chunks].sort(), []]);
});

test('encryption is loaded when it is used, and keys of SSH only for them', async () => {
  const encrypt = ['push', '--encrypt'];
  const { stdout } = await pwpush(encrypt, { env: somebody.env, input: 's' });
  for (const [words, wanted] of [
    [encrypt, 'encryption'],
    [['get', stdout.trim()], 'decrypt'],
  ] as const) {
    const { chunks } = loads(words);
    expect(chunks).toContain(wanted);
    expect(chunks).not.toContain('key-files');
    expect(chunks).not.toContain('words');
  }
});

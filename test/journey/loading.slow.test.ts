import { execFileSync } from 'node:child_process';
import { builtinModules } from 'node:module';
import { describe, expect, test } from 'vitest';
import { dist, launcher, person, pushed, pwpush, serving } from '../helpers/program';

const somebody = person();
const service = serving(somebody.env);

/** The chunks of the build, and the modules of Node, that a run loads. */
function loads(words: readonly string[], input = '') {
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
  const told = execFileSync('sh', ['-c', line, process.execPath], { env, input, encoding: 'utf8' });
  const { status, chunks, node } = JSON.parse(told.trim().split('\n').at(-1) ?? '') as {
    status: number;
    chunks: string[];
    node: string[];
  };
  expect(status).toBe(0);
  return {
    chunks: chunks.map((path) => path.slice(dist.length).replace(/\d*\.js$/, '')).sort(),
    node: node.map((module) => module.replace('NativeModule ', '')),
  };
}

/** Modules of Node that programs can name, besides those that a Node has which does nothing. */
function ownModules(node: readonly string[]): string[] {
  return builtinModules
    .filter((name) => node.includes(name) && !bare.includes(name) && name !== 'process')
    .sort();
}

/** What a Node has that does nothing; its lines differ in this. */
const bare = execFileSync(process.execPath, ['-p', 'process.moduleLoadList.join()'], {
  encoding: 'utf8',
})
  .trim()
  .split(',')
  .map((module) => module.replace('NativeModule ', ''));

const loaded = (words: readonly string[], input?: string) => loads(words, input).chunks;

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

describe.each(lines)('%s', (line, chunks, node) => {
  test('loads no other chunks and no other modules of Node', async () => {
    const words = line.replace('LINK', await pushed(service, 's')).split(' ');
    const found = loads(words, 's');
    // Releases of Node differ in what a bare one has, and in the flags that we set.
    const more = ownModules(found.node).filter((module) => !node.includes(module));
    expect([found.chunks, more]).toEqual([[...chunks].sort(), []]);
  });
});

test('encryption is loaded when it is used, and keys of SSH only for them', async () => {
  const encryption = ['age', 'decrypt', 'encryption', 'key-files'];
  const own = (chunks: string[]) => chunks.filter((chunk) => encryption.includes(chunk));
  const { stdout } = await pwpush(['push', '--encrypt'], { env: somebody.env, input: 's' });
  const runs = [
    [loaded(['push', '--encrypt'], 's'), 'encryption'],
    [loaded(['get', stdout.trim()], 's'), 'decrypt'],
  ] as const;
  for (const [chunks, wanted] of runs) {
    expect(own(chunks)).toContain(wanted);
    expect(chunks.filter((chunk) => /^(key-files|words)$/.test(chunk))).toEqual([]);
  }
});

import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { dist, launcher, person, pwpush, serving } from '../helpers/program';

const somebody = person();
serving(somebody.env);

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

/** Names that no chunk has would make the tests below pass for nothing. */
const built = readdirSync(dist).map((file) => file.replace(/\d*\.js$/, ''));

test('the chunks that are named here exist', () => {
  expect(heavy.filter((chunk) => !built.includes(chunk))).toEqual([]);
});

const loaded = (words: readonly string[], input?: string) => loads(words, input).chunks;

const files = [
  'download',
  'file-link',
  'form',
  'save-push',
  'attachments',
  'transfer-meter',
  'upload',
];
const encryption = ['age', 'decrypt', 'encryption', 'key-files'];
const heavy = [
  'token-command',
  'system-keyring',
  'client-certificate',
  'chalk',
  'clipboard',
  'clipboard-destination',
  'store',
  'here',
  'service',
  'prompt',
  'qr',
  'tunnel',
  'undici',
  'words',
  ...encryption,
  ...files,
];

test('--version loads what says it and nothing else', () => {
  expect(loaded(['--version'])).toEqual(['answer', 'load', 'streams']);
});

test('--help loads definitions, and no transport, store, prompt, colour, QR code or service', () => {
  expect(loaded(['--help']).filter((chunk) => heavy.includes(chunk))).toEqual([]);
  const help = loaded(['push', '--help']);
  expect(help.filter((chunk) => heavy.includes(chunk) || chunk === 'session')).toEqual([]);
});

test('a completion loads the command that was typed, and nothing heavy', () => {
  const chunks = loaded(['__complete', 'push', '--']);
  expect(chunks).toEqual(expect.arrayContaining(['complete', 'push']));
  expect(chunks.filter((chunk) => heavy.includes(chunk) || chunk === 'get')).toEqual([]);
});

test('push, get and list load the transport, and nothing else that is heavy', async () => {
  expect(loaded(['push'], 's').filter((chunk) => heavy.includes(chunk))).toEqual(['undici']);
  expect(loaded(['list']).filter((chunk) => heavy.includes(chunk))).toEqual(['undici']);
  const { stdout } = await pwpush(['push'], { env: somebody.env, input: 's' });
  const words = ['get', stdout.trim()];
  expect(loaded(words).filter((chunk) => heavy.includes(chunk))).toEqual(['undici']);
});

/** Modules of Node that cost 1 to 7 ms each, and that a request over plain http does without. */
const dear = [
  'http',
  'http2',
  'https',
  'tls',
  'assert',
  'child_process',
  'internal/modules/esm/load',
];

/** What a Node has that does nothing; on 24 that loader is among it. */
const bare = execFileSync(process.execPath, ['-p', 'process.moduleLoadList.join()'], {
  encoding: 'utf8',
});

test('a request loads no TLS, no HTTP/2, no second HTTP, and not the loader of ES modules', () => {
  for (const words of [['--version'], ['--help'], ['list'], ['push', '--dry-run', 'text']]) {
    const own = loads(words).node.filter((module) => !bare.includes(`NativeModule ${module},`));
    expect(own.filter((module) => dear.includes(module))).toEqual([]);
  }
});

test('a push with a receipt loads neither node:crypto nor node:fs/promises', () => {
  const { node } = loads(['push'], 's');
  const own = node.filter((module) => !bare.includes(`NativeModule ${module},`));
  expect(own.filter((module) => /^(crypto|fs\/promises)$/.test(module))).toEqual([]);
});

test('NODE_DEBUG does not make undici tell paths and query strings', async () => {
  const env = { ...somebody.env, PWPUSH_PASSPHRASE: 'open sesame' };
  const { stdout } = await pwpush(['push', '--passphrase-env', 'PWPUSH_PASSPHRASE'], {
    env,
    input: 's',
  });
  const got = await pwpush(['get', stdout.trim(), '--quiet'], {
    env: { ...env, NODE_DEBUG: 'undici,fetch' },
  });
  expect(got).toMatchObject({ code: 0, stdout: 's', stderr: '' });
});

test('encryption is loaded when it is used, and keys of SSH only for them', async () => {
  const own = (chunks: string[]) => chunks.filter((chunk) => encryption.includes(chunk));
  const { stdout } = await pwpush(['push', '--encrypt'], { env: somebody.env, input: 's' });
  expect(own(loaded(['push', '--encrypt'], 's'))).toContain('encryption');
  expect(own(loaded(['get', stdout.trim()]))).toContain('decrypt');
  for (const words of [
    ['push', '--encrypt'],
    ['get', stdout.trim()],
  ])
    expect(loaded(words, 's').filter((chunk) => /^(key-files|words)$/.test(chunk))).toEqual([]);
});

test('what is used is loaded', () => {
  expect(loaded(['push', '--qr'], 's').filter((chunk) => heavy.includes(chunk))).toEqual([
    'qr',
    'undici',
  ]);
  expect(loaded(['profile', 'set', 'days', '3']).filter((chunk) => heavy.includes(chunk))).toEqual([
    'store',
  ]);
});

import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newLinkKey } from '../../src/age/key';
import { encryptText, keyOf, withoutKey } from '../helpers/age';
import { contents } from '../helpers/contents';
import { heldIn } from '../helpers/held-in';
import { listen, relay } from '../helpers/listen';
import { partOf } from '../helpers/long';
import { allOf, needsFile } from '../helpers/needs';
import { afterScript, alsoBinary, type Ended, person, pwpush, serveBuilt, serving, start } from '../helpers/program';
import { overSocket } from '../helpers/sockets';
import { makeSshKey } from '../helpers/ssh-key';
import { offering } from '../helpers/transfer';

// Encryption where a process, a wire, a disk or another program matters; test/commands/encryption.test.ts and
// test/take/encrypted-files.test.ts have the rest.

const somebody = person();
const service = serving(somebody.env);

/** Every byte between the program and the service, both ways. */
const wire: Buffer[] = [];
let env: Record<string, string>;
beforeAll(async () => {
  const recorder = await listen(
    createServer((client) => {
      const upstream = relay(client, Number(new URL(service.url).port));
      for (const socket of [client, upstream]) socket.on('data', (bytes) => wire.push(bytes));
      client.pipe(upstream).pipe(client);
    }),
  );
  env = { ...somebody.env, PWPUSH_URL: recorder.url, PWPUSH_TOKEN: service.token };
  return recorder.close;
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(somebody.folder, 'here-'));
});
const path = (name: string) => join(folder, name);
const run = (words: readonly string[], input = '', more = {}) =>
  pwpush(words, { env: { ...env, ...more }, input, cwd: folder });
const printed = async (...all: Parameters<typeof run>) => {
  const ended = await run(...all);
  expect(ended, all[0].join(' ')).toMatchObject({ code: 0 });
  return ended.stdout.trim();
};
const within = (words: readonly string[], stdin = '', more = {}) =>
  overSocket(words, { now: () => new Date(), env: { ...env, ...more }, stdin });

const holds = (text: string, secrets: readonly string[]) => heldIn(text, Object.fromEntries(Object.entries(secrets)));

test('the key is in no byte on the wire, in no log, message, name or file', async () => {
  wire.length = 0;
  const said: Pick<Ended, 'stdout' | 'stderr'>[] = [];
  writeFileSync(path('a.txt'), 'MARKcontent');
  const views = ['--views', '9', '--debug'];
  const files = ['--file', 'a.txt', '--message', 'MARKmessage'];
  const pushed = [
    await run(['push', '--encrypt', ...views], 'MARKpayload'),
    await run(['push', '--encrypt', ...files, ...views]),
  ];
  const words = await within(['push', '--encrypt=words', ...views], 'MARKpayload');
  const [, drawn = ''] = /^key: (.*)$/m.exec(words.stderr) ?? [];
  const id = makeSshKey(path('id'), 'ed25519');
  const to = await within(['push', '--to', `${id}.pub`, ...views], 'MARKpayload');
  expect([...pushed, words, to].map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  const links = pushed.map(({ stdout }) => stdout.trim());
  const [link = '', filed = ''] = links;
  for (const one of pushed) said.push({ ...one, stdout: '' });
  said.push(await run(['get', link, '--anonymous', '--debug']));
  const shown = 'cat /proc/$PPID/cmdline /proc/$PPID/environ /proc/$$/cmdline >&2';
  said.push(await run(['run', link, '--as', 'A', '--debug', '--', 'sh', '-c', shown]));
  const last = (await within(['push', '--encrypt', '--views', '1'], 'MARKpayload')).stdout;
  const lines: [words: string[], input?: string, env?: Record<string, string>][] = [
    [['get', filed, '--output', `${path('in')}/`]],
    [['get', link.replace('#', '%23')]],
    [['get', withoutKey(link)]],
    [['get', `${withoutKey(link)}#${newLinkKey()}`, '--json']],
    [['get', words.stdout.trim()], '', { PWPUSH_KEY: drawn }],
    [['get', words.stdout.trim(), '--key-file', '-'], drawn],
    [['get', to.stdout.trim(), '-i', id]],
    ...['preview', 'audit', 'wait'].map((word): [string[]] => [[word, link]]),
    [['list', '--json']],
    [['expire', ...links, '--json']],
    [['get', link]],
    [['get', `${link}/nonsense`]],
    [['get', withoutKey(last), '--anonymous']],
  ];
  // What is said, sent and kept is the same without a process.
  for (const [line, input, more] of lines) said.push(await within([...line, '--debug'], input, more));

  const secrets = [...links.map(keyOf), keyOf(last), drawn];
  expect(secrets.filter((one) => one.length < 22)).toEqual([]);
  const texts = ['MARKpayload', 'MARKcontent', 'MARKmessage', 'a.txt'];
  const identity = readFileSync(id, 'utf8').split('\n')[2] ?? '';
  const sent = Buffer.concat(wire).toString('latin1');
  expect(sent).toContain('-----BEGIN AGE');
  expect(holds(sent, [...secrets, ...texts, identity])).toEqual([]);
  for (const { stdout, stderr } of said) expect(holds(stdout + stderr, secrets)).toEqual([]);
  expect(said.filter(({ stdout }) => stdout.includes('MARKpayload'))).toHaveLength(5);
  const marks = [...secrets, ...texts.slice(0, 3)];
  for (const kept of ['config', 'state', 'data']) {
    const text = Object.entries(contents(join(somebody.folder, kept))).join('\n');
    expect([kept, holds(text, marks)]).toEqual([kept, []]);
  }
  const { stderr: log } = await service.stop();
  expect(holds(log, secrets)).toEqual([]);
  Object.assign(service, await serveBuilt(somebody.env));
});

const onProc = allOf(needsFile('/proc/self/cmdline'), alsoBinary);
test('no spelling of a link stays among the arguments', onProc, async () => {
  const link = await printed(['push', '--encrypt', '--views', '9'], 'hunter2');
  const bare = link.replace('http://', '');
  const escaped = encodeURIComponent(link).replaceAll('-', '-2D').replaceAll('_', '-5F');
  // By a mark of a key each, or as an address with something behind its host.
  const spelled = [
    bare,
    bare.replace('#', '%23'),
    bare.replace('#', '%252523'),
    withoutKey(link),
    `https://a.safelinks.protection.outlook.com?url=${encodeURIComponent(link)}`,
    `https://urldefense.com/v2/url?u=${escaped.replaceAll('%2F', '_').replaceAll('%', '-')}&d=a`,
  ];
  const script = 'tr -d "\\0" </proc/$PPID/cmdline; : "$A"';
  const key = { PWPUSH_KEY: keyOf(link) };
  for (const one of partOf(spelled, 0, 3)) {
    const words = ['run', one, '--as', 'A', '--', 'sh', '-c', script];
    expect([one, await printed(words, '', key)]).toEqual([one, 'pwpush']);
  }
});

test('files come back under their names, with the message', alsoBinary, async () => {
  const sizes = { empty: 0, 'ü ♥.txt': 1, 'key.pem': 65_536, '-rf': 200_001 };
  const names = Object.keys(sizes);
  const bytes = Object.values(sizes).map((size) => randomBytes(size));
  mkdirSync(path('out'));
  for (const [at, name] of names.entries()) writeFileSync(path(`out/${name}`), bytes[at] ?? '');
  const files = names.map((name) => `out/${name}`);
  const link = await printed(['push', '--encrypt', '--message', 'for you', '--file', ...files]);
  const got = JSON.parse(await printed(['get', link, '--output', 'in/', '--json']));
  expect(got).toMatchObject({ payload: 'for you', encrypted: true });
  expect(got.files.map(({ filename }: { filename: string }) => filename)).toEqual(names);
  const saved = ['empty', 'ü ♥.txt', 'key.pem', '_rf'];
  expect(readdirSync(path('in')).sort()).toEqual(saved.toSorted());
  const same = saved.map((name, at) => bytes[at]?.equals(readFileSync(path(`in/${name}`))));
  expect(same).toEqual([true, true, true, true]);
});

describe('an instance that makes the key slow to try', () => {
  const WORK = 17;
  /** Nothing opens it. */
  const slow = {
    wrap: () => ({
      type: 'scrypt',
      args: [randomBytes(16).toString('base64').slice(0, 22), `${WORK}`],
      body: randomBytes(32),
    }),
  };

  /** Makes it take longer than any machine needs for it, and makes the program say when it has begun. */
  const STRETCHED = `
    const crypto = require('node:crypto');
    const { scrypt } = crypto;
    crypto.scrypt = (text, salt, length, options, done) => {
      if (options.N < 2 ** ${WORK}) return scrypt(text, salt, length, options, done);
      scrypt(text, salt, length, options, () => {});
      setInterval(() => {}, 1000);
      process.stderr.write('stretching\\n');
    };`;

  const signals = [
    ['get', 'SIGINT', 130],
    ['get', 'SIGTERM', 143],
    ['run', 'SIGTERM', 143],
  ] as const;
  test.each(partOf(signals, 0))('%s saves the text at %s', async (word, signal, status) => {
    const payload = await encryptText('text', [slow]);
    const { url } = await offering([], payload, 0);
    const rest = word === 'run' ? ['--as', 'A', '--', 'true'] : [];
    writeFileSync(path('stretched.cjs'), STRETCHED);
    const { child, ended, says } = start([word, `${url}/p/abc`, ...rest], {
      env: { ...env, PWPUSH_KEY: 'Pass phrase 1', PWPUSH_STATE_DIR: path('state') },
      input: '',
      cwd: folder,
      by: afterScript(path('stretched.cjs')),
    });
    await says('stretching', 'stderr');
    child.kill(signal);
    const { code, stderr } = await ended;
    const [, file = ''] = /the encrypted text was saved to (\S+)/.exec(stderr) ?? [];
    expect([code, readFileSync(file, 'utf8')]).toEqual([status, payload]);
    expect(stderr.match(/interrupted|terminated/g)).toHaveLength(1);
  });
});

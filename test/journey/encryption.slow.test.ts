import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { passphraseRecipient, prepareFile } from '../../src/age/age';
import { newLinkKey } from '../../src/age/key';
import { encodeManifest } from '../../src/age/manifest';
import { encryptText, joined, keyOf, pieces, withoutKey } from '../helpers/age';
import { contents } from '../helpers/contents';
import { listen, relay } from '../helpers/listen';
import { partOf } from '../helpers/long';
import { allOf, needsFile, needsPrograms } from '../helpers/needs';
import {
  afterScript,
  alsoBinary,
  type Ended,
  person,
  pwpush,
  serveBuilt,
  serving,
  shell,
  start,
} from '../helpers/program';
import { onTerminal } from '../helpers/pty';
import { overSocket } from '../helpers/sockets';
import { makeSshKey } from '../helpers/ssh-key';
import { offering, whole } from '../helpers/transfer';

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
/** What it prints if it succeeds. */
const printed = async (...all: Parameters<typeof run>) => {
  const ended = await run(...all);
  expect(ended, all[0].join(' ')).toMatchObject({ code: 0 });
  return ended.stdout.trim();
};
/** The same in this process, with the same folders. */
const within = (words: readonly string[], stdin = '', more = {}) =>
  overSocket(words, { now: () => new Date(), env: { ...env, ...more }, stdin });

/** Which secrets a text holds: as they are, in hexadecimal, or in base64 at any offset. */
function holds(text: string, secrets: readonly string[]): string[] {
  const spellings = (secret: string) => [
    secret,
    Buffer.from(secret).toString('hex'),
    ...[0, 1, 2].map((at) => Buffer.from(secret).subarray(at).toString('base64').slice(0, 12)),
  ];
  return secrets.flatMap(spellings).filter((one) => text.includes(one));
}

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
  const to = await within(['push', '-R', `${id}.pub`, ...views], 'MARKpayload');
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
    ...['show', 'preview', 'audit', 'wait'].map((word): [string[]] => [[word, link]]),
    [['notify', link, 'a@b.test']],
    [['list', '--json']],
    [['expire', ...links, '--json']],
    [['get', link]],
    [['get', `${link}/nonsense`]],
    [['get', withoutKey(last), '--anonymous']],
  ];
  // What is said, sent and kept is the same without a process.
  for (const [line, input, more] of lines)
    said.push(await within([...line, '--debug'], input, more));

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

test(
  'no spelling of a link stays among the arguments',
  allOf(needsFile('/proc/self/cmdline'), alsoBinary),
  async () => {
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
  },
);

describe('files', () => {
  const sizes = { empty: 0, 'ü ♥.txt': 1, 'key.pem': 65_536, '-rf': 200_001 };
  const names = Object.keys(sizes);
  let bytes: Buffer[];
  beforeEach(() => {
    mkdirSync(path('out'));
    bytes = Object.values(sizes).map((size) => randomBytes(size));
    for (const [at, name] of names.entries()) writeFileSync(path(`out/${name}`), bytes[at] ?? '');
  });
  const push = () => {
    const files = names.map((name) => `out/${name}`);
    return printed([
      'push',
      '--views',
      '9',
      '--encrypt',
      '--message',
      'for you',
      '--file',
      ...files,
    ]);
  };
  const same = (name: string, at: number) =>
    expect([name, readFileSync(path(name)).equals(bytes[at] as Buffer)]).toEqual([name, true]);

  test('come back under their names, with the message', alsoBinary, async () => {
    const got = JSON.parse(await printed(['get', await push(), '--output', 'in/', '--json']));
    expect(got).toMatchObject({ payload: 'for you', encrypted: true });
    expect(got.files.map(({ filename }: { filename: string }) => filename)).toEqual(names);
    const saved = ['empty', 'ü ♥.txt', 'key.pem', '_rf'];
    expect(readdirSync(path('in')).sort()).toEqual(saved.toSorted());
    for (const [at, name] of saved.entries()) same(`in/${name}`, at);
  });

  test('without their key open with age -d', needsPrograms('age'), async () => {
    const link = await push();
    await within(['get', link, '--no-decrypt', '--output', path('raw/')]);
    const all = ['1.age', '2.age', '3.age', '4.age', 'secret.txt'];
    expect(readdirSync(path('raw')).sort()).toEqual(all);
    for (const name of ['4.age', 'secret.txt']) {
      const terminal = onTerminal(`cd ${path('raw')} && age -d -o opened-${name} ${name}`, env);
      await terminal.shows('Enter passphrase');
      terminal.type(`${keyOf(link)}\r`);
      expect(await terminal.ended, terminal.screen()).toBe(0);
    }
    same('raw/opened-4.age', 3);
    const listed = JSON.parse(readFileSync(path('raw/opened-secret.txt'), 'utf8'));
    expect(listed.files[2]).toMatchObject({ name: 'key.pem', size: 65_536 });
  });

  test('open with a private key, on standard output, and for a command', alsoBinary, async () => {
    const id = makeSshKey(path('id'), 'ed25519');
    const to = ['--views', '9', '-R', `${id}.pub`];
    const link = await printed(['push', '--file', 'out/key.pem', ...to]);
    const piped = `$PWPUSH get '${link}' -i id --output - | cmp - out/key.pem`;
    expect(await shell(piped, { env, cwd: folder })).toMatchObject({ code: 0, stdout: '' });
    const child = ['--', 'sh', '-c', 'cmp "$PEM" out/key.pem && echo same'];
    expect(await printed(['run', link, '-i', 'id', '--file', 'PEM=key.pem', ...child])).toBe(
      'same',
    );
  });
});

describe('an instance that makes the key slow to try', () => {
  const passphrase = 'Pass phrase 1';
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

  async function interrupted(words: readonly string[], signal: NodeJS.Signals) {
    writeFileSync(path('stretched.cjs'), STRETCHED);
    const more = { PWPUSH_KEY: passphrase, PWPUSH_STATE_DIR: path('state') };
    const by = afterScript(path('stretched.cjs'));
    const options = { env: { ...env, ...more }, input: '', cwd: folder, by };
    const { child, ended, says } = start(words, options);
    await says('stretching', 'stderr');
    child.kill(signal);
    return ended;
  }

  const signals = [
    ['get', 'SIGINT', 130],
    ['get', 'SIGTERM', 143],
    ['run', 'SIGTERM', 143],
  ] as const;
  test.each(partOf(signals, 0))('%s saves the text at %s', async (word, signal, status) => {
    const payload = await encryptText('text', [slow]);
    const { url } = await offering([], payload, 0);
    const rest = word === 'run' ? ['--as', 'A', '--', 'true'] : [];
    const { code, stderr } = await interrupted([word, `${url}/p/abc`, ...rest], signal);
    const [, file = ''] = /the encrypted text was saved to (\S+)/.exec(stderr) ?? [];
    expect([code, readFileSync(file, 'utf8')]).toEqual([status, payload]);
    expect(stderr.match(/interrupted|terminated/g)).toHaveLength(1);
  });

  test('of a file leaves the rest to --resume', async () => {
    const known = [passphraseRecipient(passphrase, 10)];
    const files = await Promise.all(
      [known, [slow]].map(async (to, at) => {
        const { mac, encrypt } = await prepareFile(to);
        const bytes = await joined(encrypt(pieces(Buffer.from('x'))));
        const entry = { name: `${at + 1}.txt`, type: 'text/plain', size: 1, mac };
        return { filename: `${at + 1}.age`, answer: whole(bytes), entry };
      }),
    );
    const manifest = encodeManifest({ message: undefined, files: files.map(({ entry }) => entry) });
    const { url } = await offering(files, await encryptText(manifest, known), 0);
    const ended = await interrupted(['get', `${url}/p/abc`, '--output', 'in/'], 'SIGINT');
    expect([ended.code, readdirSync(path('in'))]).toEqual([130, ['1.txt']]);
    expect(ended.stderr).toMatch(
      /1 file not saved\nhint: get the rest .*or add the link:\n {2}pwpush get --resume '/,
    );
  });
});

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { passphraseRecipient, prepareFile } from '../../src/age/age';
import { newLinkKey } from '../../src/age/key';
import { parseRecipients } from '../../src/age/key-files';
import { encodeManifest, type ManifestFile } from '../../src/age/manifest';
import { encryptText, joined, keyOf, pieces, withoutKey } from '../helpers/age';
import { listening } from '../helpers/listen';
import { partOf } from '../helpers/long';
import { allOf, needsFile, needsPrograms } from '../helpers/needs';
import {
  afterScript,
  alsoBinary,
  type Ended,
  person,
  pwpush,
  type Running,
  serveBuilt,
  serving,
  shell,
  start,
} from '../helpers/program';
import { onTerminal } from '../helpers/pty';
import { overSocket } from '../helpers/sockets';
import { offering, json as sendJson, whole } from '../helpers/transfer';

const somebody = person();
const service = serving(somebody.env);

/** Every byte between the program and the service, both ways. */
const wire: Buffer[] = [];
const sockets = new Set<Socket>();
const recorder = createServer((client) => {
  const upstream = connect(Number(new URL(service.url).port), '127.0.0.1');
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    sockets.add(from);
    from.on('error', () => to.destroy());
    from.on('data', (bytes: Buffer) => void wire.push(bytes));
    from.pipe(to);
  }
});

let env: Record<string, string>;
let folder: string;

beforeAll(async () => {
  recorder.listen(0, '127.0.0.1');
  await once(recorder, 'listening');
  const { port } = recorder.address() as AddressInfo;
  const own = { PWPUSH_URL: `http://127.0.0.1:${port}`, PWPUSH_TOKEN: service.token };
  env = { ...somebody.env, ...own };
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  recorder.close();
});
beforeEach(() => {
  folder = mkdtempSync(join(somebody.folder, 'here-'));
});

const path = (name: string) => join(folder, name);
const run = (words: readonly string[], input = '', more = {}) =>
  pwpush(words, { env: { ...env, ...more }, input, cwd: folder });
const succeeded = async (...all: Parameters<typeof run>) => {
  const ended = await run(...all);
  expect(ended, all[0].join(' ')).toMatchObject({ code: 0 });
  return ended;
};

/** The same in this process, with the same folders. */
const within = (words: readonly string[], stdin = '', more = {}) =>
  overSocket(words, { now: () => new Date(), env: { ...env, ...more }, stdin });

/** A secret as it is, in hexadecimal, and in base64 at any offset. */
const spellings = (secret: string) => [
  secret,
  Buffer.from(secret).toString('hex'),
  ...[0, 1, 2].map((at) => Buffer.from(secret).subarray(at).toString('base64').slice(0, 12)),
];
const holds = (text: string, secrets: readonly string[]) =>
  secrets.flatMap(spellings).filter((one) => text.includes(one));

/** Names and contents of all files below a folder. */
const everything = (below: string) =>
  readdirSync(below, { recursive: true, withFileTypes: true })
    .map(
      (one) =>
        `${one.name} ${one.isFile() ? readFileSync(join(one.parentPath, one.name), 'latin1') : ''}`,
    )
    .join('\n');

test(
  'the key is in no byte on the wire, in no log, message, name or file',
  needsPrograms('ssh-keygen'),
  async () => {
    wire.length = 0;
    const said: Pick<Ended, 'stdout' | 'stderr'>[] = [];
    // Both ways of a secret with a process each; what is said, sent and kept otherwise is the same without one.
    const quietly = async (words: string[], input = '', more = {}) => {
      said.push(await within([...words, '--debug'], input, more));
    };
    writeFileSync(path('a.txt'), 'MARKcontent');
    const views = ['--views', '9', '--debug'];
    const pushed = [
      await succeeded(['push', '--encrypt', ...views], 'MARKpayload'),
      await succeeded([
        'push',
        '--encrypt',
        '--file',
        'a.txt',
        '--message',
        'MARKmessage',
        ...views,
      ]),
    ];
    const words = await within(['push', '--encrypt=words', ...views], 'MARKpayload');
    const drawn =
      words.stderr
        .split('\n')
        .find((line) => line.startsWith('key: '))
        ?.slice(5) ?? '';
    expect(
      spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path('id')]).status,
    ).toBe(0);
    const to = await within(['push', '-R', path('id.pub'), ...views], 'MARKpayload');
    expect([words.code, to.code]).toEqual([0, 0]);
    const links = pushed.map(({ stdout }) => stdout.trim());
    const [link = '', files = ''] = links;
    for (const one of pushed) said.push({ ...one, stdout: '' });
    said.push(await run(['get', link, '--anonymous', '--debug']));
    await quietly(['get', files, '--output', `${path('in')}/`]);
    await quietly(['get', `${link.replace('#', '%23')}`]);
    await quietly(['get', withoutKey(link)]);
    await quietly(['get', `${withoutKey(link)}#${newLinkKey()}`, '--json']);
    await quietly(['get', words.stdout.trim()], '', { PWPUSH_KEY: drawn });
    await quietly(['get', words.stdout.trim(), '--key-file', '-'], drawn);
    await quietly(['get', to.stdout.trim(), '-i', path('id')]);
    const shown = 'cat /proc/$PPID/cmdline /proc/$PPID/environ /proc/$$/cmdline >&2';
    said.push(await run(['run', link, '--as', 'A', '--debug', '--', 'sh', '-c', shown]));
    for (const word of ['show', 'preview', 'audit', 'wait']) await quietly([word, link]);
    await quietly(['notify', link, 'a@b.test']);
    await quietly(['list', '--json']);
    await quietly(['expire', ...links, '--json']);
    await quietly(['get', link]);
    await quietly(['get', `${link}/nonsense`]);
    const last = (await within(['push', '--encrypt', '--views', '1'], 'MARKpayload')).stdout;
    await quietly(['get', withoutKey(last), '--anonymous']);
    expect(Buffer.concat(wire).toString('latin1')).toContain('-----BEGIN AGE');
    const secrets = [...links.map(keyOf), keyOf(last), drawn];
    expect(secrets.filter((one) => one.length < 22)).toEqual([]);
    const identity = readFileSync(path('id'), 'utf8').split('\n')[2] ?? '';
    expect(holds(Buffer.concat(wire).toString('latin1'), [...secrets, identity])).toEqual([]);
    const texts = ['MARKpayload', 'MARKcontent', 'MARKmessage', 'a.txt'];
    expect(holds(Buffer.concat(wire).toString('latin1'), texts)).toEqual([]);
    for (const { stdout, stderr } of said) expect(holds(stdout + stderr, secrets)).toEqual([]);
    for (const kept of ['config', 'state', 'data'])
      expect([
        kept,
        holds(everything(join(somebody.folder, kept)), [...secrets, ...texts.slice(0, 3)]),
      ]).toEqual([kept, []]);
    expect(said.filter(({ stdout }) => stdout.includes('MARKpayload'))).toHaveLength(5);
    const { stderr: log } = await service.stop();
    expect(holds(log, secrets)).toEqual([]);
    Object.assign(service, await serveBuilt(somebody.env));
  },
);

test(
  'no spelling of a link stays among the arguments',
  allOf(needsFile('/proc/self/cmdline'), alsoBinary),
  async () => {
    const { stdout } = await succeeded(['push', '--encrypt', '--views', '9'], 'hunter2');
    const link = stdout.trim();
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
      const ended = await run(['run', one, '--as', 'A', '--', 'sh', '-c', script], '', key);
      expect([one, ended.code, ended.stdout]).toEqual([one, 0, 'pwpush']);
    }
  },
);

describe('files', () => {
  const sizes = [0, 1, 65_536, 200_001];
  const names = ['empty', 'ü ♥.txt', 'key.pem', '-rf'];
  let contents: Buffer[];
  beforeEach(() => {
    mkdirSync(path('out'));
    contents = sizes.map((size) => randomBytes(size));
    for (const [at, name] of names.entries())
      writeFileSync(path(`out/${name}`), contents[at] ?? '');
  });
  const push = async (...words: string[]) => {
    const attached = names.map((name) => `out/${name}`);
    return (
      await succeeded(['push', '--views', '9', '--file', ...attached, ...words])
    ).stdout.trim();
  };
  const saved = (into: string, name: string) => readFileSync(path(join(into, name)));

  test('come back under their names, with the message', alsoBinary, async () => {
    const link = await push('--encrypt', '--message', 'for you');
    const got = await succeeded(['get', link, '--output', 'in/', '--json']);
    const { payload, encrypted, files } = JSON.parse(got.stdout);
    expect({ payload, encrypted }).toEqual({ payload: 'for you', encrypted: true });
    expect(files.map(({ filename }: { filename: string }) => filename)).toEqual(names);
    expect(readdirSync(path('in')).sort()).toEqual(['_rf', 'empty', 'key.pem', 'ü ♥.txt']);
    for (const [at, name] of ['empty', 'ü ♥.txt', 'key.pem', '_rf'].entries())
      expect(saved('in', name).equals(contents[at] ?? Buffer.alloc(1))).toBe(true);
  });

  test(
    'without their key are saved encrypted, and each opens with age -d',
    needsPrograms('age'),
    async () => {
      const link = await push('--encrypt');
      const raw = ['get', link, '--no-decrypt', '--output', `${path('raw')}/`];
      expect(await within(raw)).toMatchObject({ code: 0 });
      expect(readdirSync(path('raw')).sort()).toEqual([
        '1.age',
        '2.age',
        '3.age',
        '4.age',
        'secret.txt',
      ]);
      for (const [file, expected] of [
        ['4.age', contents[3]],
        ['secret.txt', undefined],
      ] as const) {
        const terminal = onTerminal(`cd ${path('raw')} && age -d -o opened-${file} ${file}`, env);
        await terminal.shows('Enter passphrase');
        terminal.type(`${keyOf(link)}\r`);
        expect(await terminal.ended, terminal.screen()).toBe(0);
        const opened = saved('raw', `opened-${file}`);
        if (expected) expect(opened.equals(expected)).toBe(true);
        else
          expect(JSON.parse(opened.toString()).files[2]).toMatchObject({
            name: 'key.pem',
            size: 65_536,
          });
      }
    },
  );

  test(
    'open with a private key, on standard output, and as a file for a command',
    allOf(needsPrograms('age-keygen'), alsoBinary),
    async () => {
      expect(spawnSync('age-keygen', ['-o', path('id')]).status).toBe(0);
      const key = spawnSync('age-keygen', ['-y', path('id')], { encoding: 'utf8' }).stdout.trim();
      const attached = ['push', '--views', '9', '--file', 'out/key.pem', '--to', key];
      const link = (await succeeded(attached)).stdout.trim();
      const piped = `$PWPUSH get '${link}' -i id --output - | cmp - out/key.pem`;
      expect(await shell(piped, { env, cwd: folder })).toMatchObject({ code: 0, stdout: '' });
      const child = [
        '--file',
        'PEM=key.pem',
        '--',
        'sh',
        '-c',
        'cmp "$PEM" out/key.pem && echo same',
      ];
      expect((await succeeded(['run', link, '-i', 'id', ...child])).stdout).toBe('same\n');
      expect(await run(['get', link])).toMatchObject({ code: 7, stdout: '' });
    },
  );

  test('of push --here come back too', async () => {
    const here = start(['push', '--here', '--encrypt', '--file', 'out/key.pem'], {
      env: somebody.env,
      cwd: folder,
    });
    const [line] = await once(here.child.stdout as NodeJS.ReadableStream, 'data');
    const got = await within(['get', `${line}`.trim(), '--output', `${path('in')}/`]);
    expect(got).toMatchObject({ code: 0 });
    expect(saved('in', 'key.pem').equals(contents[2] ?? Buffer.alloc(0))).toBe(true);
    expect((await here.ended).code).toBe(0);
  });
});

describe('an instance that', () => {
  const key = newLinkKey();
  const recipients = [passphraseRecipient(key, 10)];

  /** A push of two files of the same size, and what their links answer. */
  async function made(size = 200_000, to = recipients) {
    const plain = [Buffer.alloc(size, 'a'), Buffer.alloc(size, 'b')];
    const files: Buffer[] = [];
    const entries: ManifestFile[] = [];
    for (const [at, content] of plain.entries()) {
      const { mac, encrypt } = await prepareFile(to);
      files.push(await joined(encrypt(pieces(content))));
      entries.push({ name: `${at + 1}.txt`, type: 'text/plain', size, mac });
    }
    const manifest = (list: readonly ManifestFile[], message?: string) =>
      encryptText(encodeManifest({ message, files: list }), to);
    return {
      files,
      entries,
      manifest,
      one: files[0] ?? Buffer.alloc(0),
      two: files[1] ?? Buffer.alloc(0),
    };
  }

  const get = (instance: { url: string }, ...words: string[]) =>
    within(['get', `${instance.url}/p/abc#${key}`, '--output', `${path('in')}/`, ...words]);
  const kept = () => readdirSync(path('in')).sort();
  const saved = (name: string) => readFileSync(path(`in/${name}`), 'latin1');
  const named = (filename: string, answer: ReturnType<typeof whole>) => ({ filename, answer });

  test('files that were changed, cut or exchanged are not saved', async () => {
    const { one, two, entries, manifest } = await made();
    const flipped = Buffer.from(two);
    flipped.writeUInt8(flipped.readUInt8(150_000) ^ 1, 150_000);
    const last = two.subarray(0, two.length - (200_000 % 65_536) - 16);
    const bad = {
      changed: whole(flipped),
      'cut at a chunk': whole(last),
      'cut anywhere': whole(two.subarray(0, 100_000)),
      extended: whole(Buffer.concat([two, Buffer.from('x')])),
      exchanged: whole(one),
      'not encrypted': whole('b'.repeat(200_000)),
      empty: whole(''),
    };
    for (const [how, answer] of partOf(Object.entries(bad), 0, 3)) {
      const instance = await offering(
        [named('1.age', whole(one)), named('2.age', answer)],
        await manifest(entries),
      );
      const { code, stderr } = await get(instance, '--force');
      await instance.close();
      expect([how, code, kept()]).toEqual([how, 1, ['1.txt']]);
      expect(stderr).toMatch(/1 of 2 files were not saved/);
    }
  });

  test('gives two files the same address is refused, by run too', async () => {
    const { one, two, entries, manifest } = await made(1000);
    const payload = await manifest(entries);
    for (const answer of [whole(two), whole(one)])
      for (const spelling of partOf(['', '#2', '&x'], 0)) {
        const instance = await listening((request, response) => {
          if (request.url?.startsWith('/file')) return answer(request, response);
          const url = `${instance.url}/file?x`;
          const files = [url, url + spelling].map((url, at) => ({
            filename: `${at + 1}.age`,
            content_type: '',
            url,
          }));
          sendJson(response, 200, {
            url_token: 'abc',
            payload,
            files,
            views_remaining: 4,
            days_remaining: 6,
          });
        });
        const got = await get(instance, '--force');
        const child = ['--file', 'F=1.txt', '--file', 'G=2.txt', '--', 'sh', '-c', 'cmp $F $G'];
        const ran = await within(['run', `${instance.url}/p/abc#${key}`, ...child]);
        await instance.close();
        expect([got.code, got.stdout, ran.code, ran.stdout]).toEqual([1, '', 1, '']);
        if (spelling === '') expect(got.stderr + ran.stderr).toContain('have the same address');
        for (const name of readdirSync(path('.')).includes('in') ? kept() : [])
          expect(saved(name)).toBe((name === '1.txt' ? 'a' : 'b').repeat(1000));
      }
  });

  test('breaks a download is asked again, and leaves nothing half', async () => {
    const { one, two, entries, manifest } = await made();
    let tries = 0;
    const breaking: ReturnType<typeof whole> = (request, response) => {
      if (tries++ > 0) return whole(two)(request, response);
      response.writeHead(200, { 'content-length': two.length });
      response.write(two.subarray(0, 90_000), () => response.destroy());
    };
    const instance = await offering(
      [named('2.age', breaking), named('1.age', whole(one))],
      await manifest(entries, 'm'),
    );
    const { code } = await get(instance);
    await instance.close();
    expect([code, kept(), saved('2.txt')]).toEqual([
      0,
      ['1.txt', '2.txt', 'secret.txt'],
      'b'.repeat(200_000),
    ]);
  });

  test('breaks downloads at random is asked for the rest alone, on standard output too', async () => {
    const { two, entries, manifest } = await made(3_000_000);
    const [, entry] = entries;
    if (!entry) throw new Error('no entry');
    const ranges: (string | undefined)[] = [];
    const breaking: ReturnType<typeof whole> = ({ headers }, response) => {
      ranges.push(headers.range);
      const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
      const range = `bytes ${from}-${two.length - 1}/${two.length}`;
      response.writeHead(from > 0 ? 206 : 200, {
        etag: '"1"',
        'content-length': two.length - from,
        ...(from > 0 ? { 'content-range': range } : {}),
      });
      if (ranges.length > 2) response.end(two.subarray(from));
      else response.write(two.subarray(from, from + 1_000_000), () => response.destroy());
    };
    for (const output of [`${path('in')}/`, '-']) {
      ranges.length = 0;
      const instance = await offering([named('1.age', breaking)], await manifest([entry]));
      const { code, stdout } = await get(instance, '--output', output);
      await instance.close();
      const bytes = output === '-' ? stdout : saved('2.txt');
      expect([code, bytes === 'b'.repeat(3_000_000)]).toEqual([0, true]);
      const starts = ranges.map((range) => Number(range?.match(/\d+/)?.[0] ?? 0));
      expect(starts).toEqual([...starts].sort((a, b) => a - b));
      expect([starts.length, starts[0], (starts[1] ?? 0) > 0]).toEqual([3, 0, true]);
    }
  });

  test('is interrupted on its last view gives the rest to --resume, with the key', async () => {
    const { one, two, entries, manifest } = await made();
    let began = () => {};
    const asked = new Promise<void>((resolve) => {
      began = resolve;
    });
    let times = 0;
    const once: ReturnType<typeof whole> = (request, response) => {
      if (times++ > 0) return whole(two)(request, response);
      response.writeHead(200, { 'content-length': two.length });
      response.write(two.subarray(0, 70_000), began);
    };
    const files = [named('1.age', whole(one)), named('2.age', once)];
    const instance = await offering(files, await manifest(entries, 'MARKmessage'), 0);
    const link = `${instance.url}/p/abc#${key}`;
    const words = ['get', link, '--output', 'in/'];
    const state = { ...env, PWPUSH_STATE_DIR: path('state') };
    const { child, ended } = start(words, { env: state, cwd: folder });
    await asked;
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    const [, kept = ''] = /--resume '(.*)'\n/.exec(stderr) ?? [];
    expect(code).toBe(130);
    expect(holds(readFileSync(kept, 'latin1'), [key, 'MARKmessage'])).toEqual([]);
    const resumed = ['get', link, '--output', `${path('in')}/`, '--resume', kept];
    const more = { PWPUSH_STATE_DIR: path('state') };
    expect(await within(resumed, '', more)).toMatchObject({ code: 0 });
    await instance.close();
    expect(readdirSync(path('in')).sort()).toEqual(['1.txt', '2.txt', 'secret.txt']);
    expect(saved('2.txt')).toBe('b'.repeat(200_000));
    expect(readdirSync(path('state')).filter((name) => name.startsWith('download'))).toEqual([]);
  });

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
  const stretched = () => {
    const script = path('stretched.cjs');
    writeFileSync(
      script,
      `const crypto = require('node:crypto');
      const { scrypt } = crypto;
      crypto.scrypt = (text, salt, length, options, done) => {
        if (options.N < 2 ** ${WORK}) return scrypt(text, salt, length, options, done);
        scrypt(text, salt, length, options, () => {});
        setInterval(() => {}, 1000);
        process.stderr.write('stretching\\n');
      };`,
    );
    return afterScript(script);
  };
  const stretching = ({ child: { stderr }, ended }: Running) =>
    new Promise<void>((resolve, reject) => {
      stderr?.on('data', (text) => {
        if (`${text}`.includes('stretching')) resolve();
      });
      ended.then((all) => reject(Object.assign(new Error('it ended before'), all)));
    });

  const interrupted = [
    ['get', 'SIGINT', 130],
    ['get', 'SIGTERM', 143],
    ['run', 'SIGTERM', 143],
  ] as const;
  test.each(partOf(interrupted, 0))(
    'makes the key slow to try: %s saves the text at %s',
    async (word, signal, status) => {
      const payload = await encryptText('text', [slow]);
      const instance = await offering([], payload, 0);
      const rest = word === 'run' ? ['--as', 'A', '--', 'true'] : [];
      const words = [word, `${instance.url}/p/abc`, ...rest];
      const more = { PWPUSH_KEY: passphrase, PWPUSH_STATE_DIR: path('state') };
      const options = { env: { ...env, ...more }, input: '', cwd: folder, by: stretched() };
      const running = start(words, options);
      await stretching(running);
      running.child.kill(signal);
      const { code, stderr } = await running.ended;
      await instance.close();
      const [, file = ''] = /the encrypted text was saved to (\S+)/.exec(stderr) ?? [];
      expect([code, readFileSync(file, 'utf8')]).toEqual([status, payload]);
      expect(stderr.match(/interrupted|terminated/g)).toHaveLength(1);
    },
  );

  test('makes the key of a file slow to try: the rest is for --resume', async () => {
    const { one, entries, manifest } = await made(10, [passphraseRecipient(passphrase, 10)]);
    const { mac, encrypt } = await prepareFile([slow]);
    const bytes = await joined(encrypt(pieces(Buffer.from('x'))));
    const list = [...entries.slice(0, 1), { name: '2.txt', type: 'text/plain', size: 1, mac }];
    const files = [named('1.age', whole(one)), named('2.age', whole(bytes))];
    const instance = await offering(files, await manifest(list), 0);
    const words = ['get', `${instance.url}/p/abc`, '--output', 'in/'];
    const more = { PWPUSH_KEY: passphrase, PWPUSH_STATE_DIR: path('state') };
    const options = { env: { ...env, ...more }, input: '', cwd: folder, by: stretched() };
    const running = start(words, options);
    await stretching(running);
    running.child.kill('SIGINT');
    const { code, stderr } = await running.ended;
    await instance.close();
    expect([code, kept()]).toEqual([130, ['1.txt']]);
    expect(stderr).toMatch(
      /1 file not saved\nhint: get the rest .*or add the link:\n {2}pwpush get --resume '/,
    );
  });

  test.each([
    ['lost a file', (all: string[]) => all.slice(0, 1), '1 missing, 0 unknown'],
    ['lost all files', () => [], '2 missing, 0 unknown'],
    ['added a file', (all: string[]) => [...all, '3.age'], '0 missing, 1 unknown'],
    ['renamed a file', () => ['1.age', 'evil.sh'], '1 missing, 1 unknown'],
  ])('%s is an error, and what there is is saved encrypted', async (_how, change, said) => {
    const { files, entries, manifest } = await made(1000);
    const listed = change(['1.age', '2.age']).map((name, at) =>
      named(name, whole(files[at] ?? 'x')),
    );
    const state = { PWPUSH_STATE_DIR: path('state') };
    const instance = await offering(listed, await manifest(entries), 0);
    const words = ['get', `${instance.url}/p/abc#${key}`, '--output', `${path('in')}/`];
    const ended = await within(words, '', state);
    await instance.close();
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain(`the files differ from those that were sent: ${said}`);
    const rescued = readdirSync(path('state'), { recursive: true, encoding: 'utf8' });
    expect(rescued.filter((name) => /^secret-[^/]+$/.test(name))).toHaveLength(1);
    expect(rescued.filter((name) => name.includes('/'))).toHaveLength(listed.length);
  });

  test(
    'added files to an encrypted text is noticed, whatever the key is',
    needsPrograms('ssh-keygen'),
    async () => {
      const [id, words] = [path('id'), 'abacus-abdomen-abdominal-abide-abiding-ability'];
      expect(spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', id]).status).toBe(0);
      const own = parseRecipients(readFileSync(`${id}.pub`, 'utf8'));
      const ways: [typeof recipients, string, string[], Record<string, string>][] = [
        [recipients, `#${key}`, [], {}],
        [recipients, '', [], { PWPUSH_KEY: key }],
        [[passphraseRecipient(words, 4)], '', [], { PWPUSH_KEY: words }],
        [own, '', ['-i', id], {}],
      ];
      for (const [to, end, options, env] of ways) {
        const payload = await encryptText('text', to);
        const instance = await offering([named('run-me.sh', whole('echo FORGED'))], payload);
        const link = `${instance.url}/p/abc${end}`;
        const child = ['--file', 'S=run-me.sh', '--', 'sh', '-c', 'sh "$S"'];
        const state = { ...env, PWPUSH_STATE_DIR: path('state') };
        const into = ['--output', `${path('in')}/`];
        const got = await within(['get', ...options, link, ...into], '', state);
        const ran = await within(['run', ...options, link, ...child], '', state);
        await instance.close();
        for (const { code, stdout, stderr } of [got, ran]) {
          expect([end, options, code, stdout]).toEqual([end, options, 1, '']);
          expect(stderr).toContain('the files of the push are not encrypted: it may have been');
        }
        expect(readdirSync(path('.')).includes('in') ? kept() : []).toEqual([]);
      }
    },
  );

  test('a newer manifest is not guessed at', async () => {
    const payload = await encryptText('{"pwpush-manifest":2,"files":[]}', recipients);
    const instance = await offering([], payload);
    const { code, stderr } = await get(instance);
    await instance.close();
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('a newer version of pwpush made it'),
    ]);
  });

  test('unknown members of a manifest are ignored', async () => {
    const { one, entries, manifest } = await made(10);
    expect((await manifest(entries)).length).toBeGreaterThan(0);
    const entry = { ...entries[0], mode: 0o600 };
    const text = JSON.stringify({ 'pwpush-manifest': 1, files: [entry], later: { a: 1 } });
    const instance = await offering(
      [named('1.age', whole(one))],
      await encryptText(text, recipients),
    );
    const { code } = await get(instance);
    await instance.close();
    expect([code, kept()]).toEqual([0, ['1.txt']]);
  });

  test.each(['SIGKILL', 'SIGTERM'] as const)(
    '%s in the middle of an encrypted download leaves nothing that looks complete',
    async (signal) => {
      const { two, entries, manifest } = await made(5_000_000);
      const [, entry] = entries;
      let arrived = () => {};
      const half = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const stalling: ReturnType<typeof whole> = (_request, response) => {
        response.writeHead(200, { 'content-length': two.length });
        response.write(two.subarray(0, 4_000_000), () => arrived());
      };
      const instance = await offering(
        [named('1.age', stalling)],
        await manifest(entry ? [entry] : []),
      );
      const words = ['get', `${instance.url}/p/abc#${key}`, '--output', 'in/'];
      const { child, ended } = start(words, { env, input: '', cwd: folder });
      await half;
      child.kill(signal);
      await ended;
      await instance.close();
      expect(kept().filter((name) => !name.startsWith('.'))).toEqual([]);
    },
  );
});

test('words open in a terminal, and a lost key is asked for', async () => {
  const { stdout, stderr } = await succeeded(
    ['push', '--encrypt=words', '--views', '9'],
    'hunter2',
  );
  const words = stderr.slice('key: '.length).trim();
  const terminal = onTerminal(`$PWPUSH get ${stdout.trim()}`, env);
  await terminal.shows('Key or words:');
  terminal.type('wrong\r');
  await terminal.shows('or more words), try again:');
  terminal.type(`${words.replaceAll('-', ' ')}\r`);
  expect(await terminal.ended).toBe(0);
  expect(terminal.screen()).toContain('hunter2');
  // Each of them may stand in a message.
  const [first, second] = words.split('-');
  expect(terminal.screen()).not.toMatch(new RegExp(`${first}[- ]${second}`));
});

test('words open with age, too', needsPrograms('age'), async () => {
  const { stdout, stderr } = await within(['push', '--encrypt=words', '--views', '9'], 'hunter2');
  const words = stderr.slice('key: '.length).trim();
  const armor = (await within(['get', stdout.trim(), '--no-decrypt'])).stdout;
  writeFileSync(path('armor'), armor);
  const age = onTerminal(`age -d -o ${path('opened')} ${path('armor')}`, env);
  await age.shows('Enter passphrase');
  age.type(`${words}\r`);
  expect(await age.ended).toBe(0);
  expect(readFileSync(path('opened'), 'utf8')).toBe('hunter2');
});

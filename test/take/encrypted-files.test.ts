import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { passphraseRecipient, prepareFile, type Recipient } from '../../src/age/age';
import { newLinkKey } from '../../src/age/key';
import { parseRecipients } from '../../src/age/key-files';
import { encodeManifest, type ManifestFile } from '../../src/age/manifest';
import { encryptText, joined, pieces } from '../helpers/age';
import { contents } from '../helpers/contents';
import { needsPrograms } from '../helpers/needs';
import { changed, RETRIEVED } from '../helpers/reference';
import { NOW, place } from '../helpers/run';
import { makeSshKey } from '../helpers/ssh-key';
import { json, type Literal, wire } from '../helpers/wire';

// What an instance may do with the files of an encrypted push.

const key = newLinkKey();
const recipients = [passphraseRecipient(key, 10)];
const SIZE = 200_000;

let [one, two]: Buffer[] = [];
const entries: ManifestFile[] = [];
beforeAll(async () => {
  const made = ['a', 'b'].map(async (letter, at) => {
    const { mac, encrypt } = await prepareFile(recipients);
    entries[at] = { name: `${at + 1}.txt`, type: 'text/plain', size: SIZE, mac };
    return joined(encrypt(pieces(Buffer.alloc(SIZE, letter))));
  });
  [one, two] = await Promise.all(made);
});
const manifest = (files: readonly ManifestFile[], message?: string) =>
  encryptText(encodeManifest({ message, files }), recipients);

const file = (body: Buffer | string = '', more: Partial<Literal> = {}) => ({ status: 200, body, ...more });

interface Offered {
  /** The names of its files, by their addresses. */
  readonly names?: readonly (readonly [name: string, url: string])[];
  readonly views?: number;
  readonly now?: () => Date;
}
const NAMES = ['1', '2'].map((at) => [`${at}.age`, `/f/${at}`] as const);

/** An instance with a push of that payload, and what it answers then; with somebody who gets it. */
function offering(payload: string, answers: readonly Literal[], how: Offered = {}) {
  const { names = NAMES, views = 4, now } = how;
  const files = names.map(([filename, url]) => ({ filename, content_type: '', url }));
  const push = json(200, changed(RETRIEVED, { payload, files, views_remaining: views }));
  const { send, sent } = wire([push, ...answers]);
  const env = { PWPUSH_URL: 'https://pw.test', PATH: process.env.PATH };
  const here = place({ send, env, ...(now && { now }) });
  const into = here.file('in/');
  const link = `https://pw.test/p/abc#${key}`;
  return {
    here,
    sent,
    link,
    get: (...words: string[]) => here.run('get', link, '--output', into, ...words),
    run: (...words: string[]) => here.run('run', link, ...words),
    saved: () => (existsSync(into) ? contents(into) : {}),
  };
}

const WORDS = 'abacus-abdomen-abdominal-abide-abiding-ability';

test.each([
  ['is saved before', true],
  ['is removed after', false],
])('armor that takes much memory to open %s', async (_when, isInterrupted) => {
  const armor = await encryptText('hunter2', [passphraseRecipient(WORDS, 17)]);
  const interrupt = new AbortController();
  let isNamed = false;
  // A file that is saved is named by the time, once its folder is there.
  const now = () => {
    isNamed ||= existsSync(here.file('state'));
    if (isNamed && isInterrupted) interrupt.abort('SIGINT');
    return NOW;
  };
  const { here } = offering(armor, [], { names: [], views: 0, now });
  const { signal } = interrupt;
  const person = here.under({ env: { PWPUSH_KEY: WORDS }, signal });
  const { code, stdout } = await person.run('get', 'https://pw.test/p/abc');
  const ended = isInterrupted ? [130, '', [armor]] : [0, 'hunter2', []];
  expect([isNamed, code, stdout, Object.values(here.rescued())]).toEqual([true, ...ended]);
});

test.each([
  ['shorter', 1, SIZE],
  ['longer', -1, SIZE - (SIZE % 65_536)],
])('a file %s than the manifest says fails, and no byte too many is handed out', async (_how, more, handed) => {
  const [entry] = entries.map((one) => ({ ...one, size: SIZE + more }));
  const answers = [file(one), file(one), file(one)];
  const { here, link } = offering(await manifest(entry ? [entry] : []), answers, { names: [['1.age', '/f']] });
  const { code, stdout, stderr } = await here.run('get', link, '--output', '-');
  expect([code, stdout]).toEqual([1, 'a'.repeat(handed)]);
  expect(stderr).toContain('its size differs from the file that was sent');
});

const ALL = { '1.txt': 'a'.repeat(SIZE), '2.txt': 'b'.repeat(SIZE) };
const FIRST = { '1.txt': ALL['1.txt'] };

describe('files that were changed, cut or exchanged are not saved', () => {
  const last = SIZE % 65_536;
  test.each<[string, () => Buffer | string]>([
    ['changed', () => Buffer.from(two ?? '').fill('x', 150_000, 150_001)],
    ['cut at a chunk', () => (two ?? '').slice(0, -last - 16)],
    ['cut anywhere', () => (two ?? '').slice(0, 100_000)],
    ['extended', () => Buffer.concat([two ?? Buffer.of(), Buffer.from('x')])],
    ['exchanged', () => one ?? ''],
    ['not encrypted', () => 'b'.repeat(SIZE)],
    ['empty', () => ''],
  ])('%s', async (_, body) => {
    const { get, saved } = offering(await manifest(entries), [file(one), file(body())]);
    const { code, stderr } = await get('--force');
    expect([code, saved()]).toEqual([1, FIRST]);
    expect(stderr).toMatch(/1 of 2 files were not saved/);
  });

  test('at the same address: by get and by run', async () => {
    const payload = await manifest(entries);
    const names = NAMES.map(([name]) => [name, '/f'] as const);
    const child = ['--file', 'F=1.txt', '--file', 'G=2.txt', '--', 'sh', '-c', 'cmp $F $G'];
    for (const how of ['get', 'run'] as const) {
      const asked = offering(payload, [], { names });
      const ended = await asked[how](...(how === 'run' ? child : []));
      expect([ended.code, ended.stdout, asked.saved()]).toEqual([1, '', {}]);
      expect(ended.stderr).toContain('have the same address');
    }
  });
});

test.each([
  ['lost a file', ['1.age'], '1 missing, 0 unknown'],
  ['lost all files', [], '2 missing, 0 unknown'],
  ['added a file', ['1.age', '2.age', '3.age'], '0 missing, 1 unknown'],
  ['renamed a file', ['1.age', 'evil.sh'], '1 missing, 1 unknown'],
])('an instance that %s: what there is is saved encrypted', async (_how, all, said) => {
  const names = all.map((name) => [name, `/f/${name}`] as const);
  const answers = [file(one), file(two), file('x')].slice(0, all.length);
  const { get, here } = offering(await manifest(entries), answers, { names, views: 0 });
  const { code, stdout, stderr } = await get();
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(`the files differ from those that were sent: ${said}`);
  const rescued = Object.keys(here.rescued());
  expect(rescued.filter((name) => /^secret-[^/]+$/.test(name))).toHaveLength(1);
  expect(rescued.filter((name) => name.includes('/'))).toHaveLength(all.length);
});

test('added files to a sealed text is noticed for any key', needsPrograms('ssh-keygen'), async () => {
  const outside = place();
  const id = makeSshKey(outside.file('id'), 'ed25519');
  const own = parseRecipients(readFileSync(`${id}.pub`, 'utf8'));
  const ways: [Recipient[], string, string[], Record<string, string>][] = [
    [recipients, `#${key}`, [], {}],
    [recipients, '', [], { PWPUSH_KEY: key }],
    [[passphraseRecipient(WORDS, 4)], '', [], { PWPUSH_KEY: WORDS }],
    [own, '', ['-i', id], {}],
  ];
  const child = ['--file', 'S=run-me.sh', '--', 'sh', '-c', 'sh "$S"'];
  for (const [to, end, options, env] of ways)
    for (const rest of [
      ['get', '--output', 'in/'],
      ['run', ...child],
    ]) {
      const payload = await encryptText('text', to);
      const { here } = offering(payload, [], { names: [['run-me.sh', '/f']] });
      const [word = '', ...more] = rest;
      const words = [word, ...options, `https://pw.test/p/abc${end}`, ...more];
      const { code, stdout, stderr } = await here.under({ env }).run(...words);
      expect([end, options, code, stdout]).toEqual([end, options, 1, '']);
      expect(stderr).toContain('the files of the push are not encrypted: it may have been');
    }
});

test('a newer manifest is not guessed at, but unknown members are ignored', async () => {
  const newer = await encryptText('{"pwpush-manifest":2,"files":[]}', recipients);
  const { code, stderr } = await offering(newer, [], { names: [] }).get();
  expect([code, stderr]).toEqual([1, expect.stringContaining('a newer version of pwpush made it')]);
  const entry = { ...entries[0], mode: 0o600 };
  const text = JSON.stringify({ 'pwpush-manifest': 1, files: [entry], later: { a: 1 } });
  const names = NAMES.slice(0, 1);
  const { get, saved } = offering(await encryptText(text, recipients), [file(one)], { names });
  expect([(await get()).code, saved()]).toEqual([0, FIRST]);
});

describe('a download that breaks', () => {
  /** Bytes of the second file from there on, of which some arrive. */
  const part = (from: number, arrive: number, tag?: string): Literal => {
    const length = two?.length ?? 0;
    const range = { 'content-range': `bytes ${from}-${length - 1}/${length}` };
    return {
      status: from > 0 ? 206 : 200,
      headers: { 'content-length': `${length - from}`, ...(tag && { etag: tag }), ...(from > 0 && range) },
      body: two?.subarray(from, from + arrive) ?? '',
      cut: from + arrive < length,
    };
  };

  test('is asked again, and leaves nothing half', async () => {
    const answers = [file(one), part(0, 90_000), part(0, SIZE * 2)];
    const { get, saved } = offering(await manifest(entries, 'm'), answers);
    expect([(await get()).code, saved()]).toEqual([0, { ...ALL, 'secret.txt': 'm' }]);
  });

  test.each(['in/', '-'])('is asked for the rest alone (--output %s)', async (output) => {
    const [, entry] = entries;
    const pieces = [part(0, 70_000, '"1"'), part(70_000, 60_000, '"1"')];
    const answers = [...pieces, part(130_000, SIZE, '"1"')];
    const payload = await manifest(entry ? [entry] : []);
    const names = [['1.age', '/f']] as const;
    const { here, link, saved, sent } = offering(payload, answers, { names });
    const to = output === '-' ? output : here.file(output);
    const { code, stdout } = await here.run('get', link, '--output', to);
    const bytes = output === '-' ? stdout : saved()['2.txt'];
    expect([code, bytes === ALL['2.txt']]).toEqual([0, true]);
    const ranges = sent.map((request) => /^range: (.*)$/m.exec(request)?.[1]);
    expect(ranges.slice(1)).toEqual([undefined, 'bytes=70000-', 'bytes=130000-']);
  });

  test('on the last view gives the rest to --resume, with the key', async () => {
    const answers = [file(one), file('', { status: 403 }), file(two)];
    const { get, here, saved } = offering(await manifest(entries, 'MARK'), answers, { views: 0 });
    const { code, stderr } = await get();
    const [, kept = ''] = /--resume '(.*)'\n/.exec(stderr) ?? [];
    const text = readFileSync(kept, 'utf8');
    expect([code, text.includes(key), text.includes('MARK')]).toEqual([1, false, false]);
    expect(saved()).toEqual({ ...FIRST, 'secret.txt': 'MARK' });
    writeFileSync(here.file('key'), key);
    const words = ['get', '--key-file', here.file('key'), '--resume', kept];
    expect(await here.run(...words)).toMatchObject({ code: 0, stdout: '' });
    expect(saved()).toEqual({ ...ALL, 'secret.txt': 'MARK' });
    expect(existsSync(kept)).toBe(false);
  });
});

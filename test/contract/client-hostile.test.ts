import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exitStatus } from '../../src/platform/errors';
import { asking } from '../helpers/foreign';
import { times } from '../helpers/long';
import * as reference from '../helpers/reference';
import { place } from '../helpers/run';
import { answering, json, type Literal } from '../helpers/wire';

const { AUDITED, CREATED, changed, EXPIRED, PREVIEWED, RETRIEVED, VERSION } = reference;

// An instance that answers whatever it likes: a run ends, with a status of the table and no stack trace.

const hostile = fc.oneof(
  fc.constantFrom(
    ...['__proto__', '\u001b]52;c;eA==\u0007', '\u202e\u2066\u200b', '99999999999999999999', '-1'],
    ...['http://[', '../../../etc/passwd', 'https://evil.test/', '\ud800', ''],
  ),
  fc.string({ unit: 'binary', maxLength: 300 }),
);

const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, -1, 1e308, 2 ** 53, '7', 'NaN'),
    hostile,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(hostile, tie('value'), { maxKeys: 5 }),
  ),
})).value;

/** An answer of the reference in which some fields are something else. */
const spoilt = fc
  .tuple(
    fc.constantFrom(CREATED, RETRIEVED, EXPIRED, AUDITED, VERSION),
    fc.array(
      fc.tuple(
        fc.constantFrom(
          ...['url_token', 'html_url', 'payload', 'files', 'logs', 'features', 'name', 'expired'],
          ...['expire_after_days', 'views_remaining', 'passphrase', 'created_at', 'error', 'url'],
        ),
        fc.oneof(anything, fc.array(fc.record({ filename: hostile, url: hostile, content_type: anything }))),
      ),
      { maxLength: 4 },
    ),
    fc.boolean(),
  )
  .map(([answer, fields, listed]) => {
    const text = changed(answer, Object.fromEntries(fields));
    return listed ? `[${text}]` : text;
  });

const unpacked = fc.oneof(
  spoilt,
  spoilt.map((text) => text.slice(0, -20)),
  anything.map((value) => JSON.stringify(value)),
  fc.constantFrom(
    '{"__proto__":{"payload":"x","token":"y"},"constructor":{"prototype":{"code":1}}}',
    `${'['.repeat(200_000)}`,
    `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
    `[${'{},'.repeat(300_000)}{}]`,
    `{"error":"${'ab cd '.repeat(100_000)}"}`,
    `{"payload":"${'x'.repeat(2_000_000)}"}`,
  ),
);

const body = fc
  .tuple(
    fc.oneof(unpacked, fc.uint8Array({ maxLength: 200 })),
    fc.constantFrom('', '', '', 'gzip', 'deflate', 'x-unknown'),
  )
  .map(([content, coding]) => {
    const bytes = Buffer.from(content as Uint8Array);
    const headers = coding === '' ? {} : { 'content-encoding': coding };
    return { body: coding === 'gzip' ? gzipSync(bytes) : bytes, headers };
  });

const answers: fc.Arbitrary<Literal> = fc
  .record({
    status: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(200, 201, 200, 201, 401, 403, 404, 422, 429, 503) },
      fc.constantFrom(204, 206, 301, 302, 303, 304, 307, 308, 400, 413, 418, 500, 502),
      fc.integer({ min: 200, max: 999 }),
    ),
    type: fc.oneof({ weight: 3, arbitrary: fc.constantFrom('application/json', 'text/html') }, hostile),
    packed: body,
    more: fc.dictionary(fc.constantFrom('location', 'retry-after', 'content-length'), hostile),
  })
  .map(({ status, type, packed, more }) => ({
    status,
    headers: { 'content-type': type, ...packed.headers, ...more },
    body: packed.body,
  }));

const lines = [
  ...['push', 'push --json --accept-limits', 'push --each', 'get abc --output OUT/'],
  ...['get abc --json --no-files', 'run abc --as X -- true', 'preview abc', 'expire abc', 'list'],
  ...['list expired --json', 'audit abc', 'wait abc --for 20', 'version'],
  ...['version --json', 'login https://pw.test'],
];

const ends = [0, ...Object.values(exitStatus)] as number[];
const secret = 'correct horse battery staple';
const OTHER = { env: { PWPUSH_EDITION: 'oss' } };

/** Runs a line against an instance that gives those answers in turn, over and over. */
async function against(given: readonly Literal[], line: string) {
  let time = Date.UTC(2026, 7, 20);
  let asked = 0;
  const here = place({
    stdin: line.startsWith('login') ? 't0ken' : secret,
    env: { PWPUSH_URL: 'https://pw.test', PWPUSH_TOKEN: 't0ken', PATH: process.env.PATH },
    invented: 'any',
    now: () => new Date(time),
    asleep: (milliseconds) => {
      time += milliseconds;
    },
    send: async () => answering(given[asked++ % given.length] as Literal),
  });
  const words = line.split(' ').map((word) => word.replace('OUT', here.file('out')));
  const outcome = await here.run(...words);
  here.close();
  return { ...outcome, asked, waited: here.sleeps.reduce((sum, one) => sum + one, 0) / 1000 };
}

test.each(lines)('an instance that answers what it likes ends %s with a status', async (line) => {
  await fc.assert(
    fc.asyncProperty(fc.array(answers, { minLength: 1, maxLength: 3 }), async (given) => {
      const { code, stderr, asked, waited } = await against(given, line);
      expect(ends).toContain(code);
      expect(stderr).not.toMatch(/^\s+at |internal error/m);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
      expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
      expect([asked < 2000, waited < 500]).toEqual([true, true]);
    }),
    { numRuns: times(40) },
  );
  expect(Object.keys(Object.prototype)).toEqual([]);
});

describe('an instance that says what the program says', () => {
  const FORGED = '_FORGED_';
  const names = 'earlier_views encrypted error generated line saved_as warning';
  const forged = Object.fromEntries(names.split(' ').map((name) => [name, FORGED]));
  const forging = (answer: string, more: object = {}) => changed(answer, { ...forged, ...more });
  const files = [{ filename: 'x', url: 'https://pw.test/x', ...forged }];
  const request = { url_token: 'abc', html_url: 'https://pw.test/r/abc', response: 'hunter2' };
  const requests = JSON.stringify({ ...request, state: 'closed', files, ...forged });
  const row = (answer: string, more: object = {}) => `[${forging(answer, more)}]`;

  test.each<[string, string[], unknown]>([
    ['push', [forging(CREATED)], false],
    ['push --encrypt', [forging(CREATED)], true],
    ['get abc --no-files', [forging(RETRIEVED, { files })], false],
    [
      'get https://pw.test/api/v2/requests/abc --no-files',
      [forging('{"url":"https://pw.test/r/abc"}'), requests],
      false,
    ],
    ['respond https://pw.test/r/abc', [requests.replace('closed', 'open'), requests], undefined],
    ['expire abc', [forging(EXPIRED)], undefined],
    ['preview abc', [forging(PREVIEWED), forging(AUDITED), row(CREATED, { url_token: 'abc' })], null],
    ['list', [row(CREATED)], undefined],
    ['audit abc', [`{"logs":${row('{"kind":"view"}')}}`, '{"logs":[]}'], undefined],
    ['version', [forging(VERSION)], undefined],
  ])('is not heard: %s', async (line, bodies, encrypted) => {
    const answers = bodies.map((body) => json(200, body));
    const conditions = { stdin: 'x', env: { PWPUSH_TOKEN: 't' } };
    const { stdout } = await asking(answers, [...line.split(' '), '--json'], conditions);
    expect(stdout).not.toContain(FORGED);
    const [printed] = [JSON.parse(stdout)].flat();
    expect(printed.encrypted).toBe(encrypted);
  });
});

test('arrays by the hundred thousand are not made into values', async () => {
  const answer = json(200, `[{"url_token":"abc","x":[${'[],'.repeat(300_000)}1]}]`);
  const { code, stdout, stderr } = await asking([answer], ['list']);
  expect([code, stdout, stderr.includes('unexpected response')]).toEqual([1, '', true]);
});

test.each([
  [100, 0, false],
  [101, 11, true],
])('an answer with %i files ends with %i; that it is saved instead: %s', async (length, exit, isSaved) => {
  const files = Array.from({ length }, () => ({ filename: 'a', url: 'https://pw.test/f' }));
  const answer = json(200, changed(RETRIEVED, { files }));
  const { code, stderr, sent } = await asking([answer], ['get', 'abc', '--no-files'], OTHER);
  expect([code, /saved to \//.test(stderr), sent.length]).toEqual([exit, isSaved, 1]);
});

test.each([
  ['in Latin-1', Buffer.from(changed(RETRIEVED, { payload: 'gr\u00fc\u00df' }), 'latin1'), 'application/json'],
  ['without its type', Buffer.from(changed(RETRIEVED, { payload: '\u00fc' }), 'latin1'), 'text/plain'],
  ['in UTF-16', Buffer.from(`\ufeff${RETRIEVED}`, 'utf16le'), 'application/json'],
  ['cut in a character', Buffer.from(RETRIEVED.replace('ter2', 't\xe2\x82'), 'latin1'), 'application/json'],
])('an answer that is not UTF-8 is saved as it came: %s', async (_how, body, type) => {
  const answer = { status: 200, headers: { 'content-type': type }, body };
  const env = { ...OTHER.env, PWPUSH_URL: 'https://pw.test' };
  const here = place({ env, send: async () => answering(answer) });
  const { code, stdout, stderr } = await here.run('get', 'abc');
  const [, saved = ''] = /saved to (\S+)/.exec(stderr) ?? [];
  expect([code, stdout, readFileSync(saved).equals(body)]).toEqual([11, '', true]);
  here.close();
});

test('a content type that repeats the passphrase is not quoted', async () => {
  const answer = { ...json(200, '[]'), headers: { 'content-type': `json/${secret}` } };
  const { code, stderr } = await asking([answer], ['get', 'abc'], { env: { PWPUSH_PASSPHRASE: secret } });
  expect([code, stderr]).toEqual([11, expect.stringContaining('unexpected response')]);
  expect(stderr).not.toContain('horse');
});

test.each([
  ['expire abc --json', 2, 11],
  ['audit abc --debug', 1, 1],
])('a response to %s that is not understood is not quoted', async (line, times, exit) => {
  const answer = json(201, JSON.stringify({ payload: secret, url_token: 1, logs: 1 }));
  const { code, stderr } = await asking(Array(times).fill(answer), line.split(' '), {
    env: { PWPUSH_TOKEN: 't' },
  });
  expect([code, stderr.includes('unexpected response')]).toEqual([exit, true]);
  expect(stderr).not.toContain('horse');
});

const LINK = 'https://pw.test/p/quyul5r5w08/r\n';
const MOST = 16 * 1024 * 1024;
const packed = (body: string | Uint8Array): Literal => ({
  ...json(201, ''),
  headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  body: gzipSync(body),
});

async function answered(answer: Literal, line: string) {
  const conditions = { stdin: 'hunter2', ...OTHER };
  const { code, stdout, sent } = await asking([answer], line.split(' '), conditions);
  return { code, stdout, requests: sent.length };
}

// Those of each call in every form: client-forms.test.ts. What is said of them: test/cases/unexpected-responses.txt.
test.each([
  ['a token that is a path', json(201, '{"url_token":"../../etc"}'), 'push', 11],
  ['more than 16 MiB', json(200, VERSION.padEnd(MOST + 1)), 'version', 1],
  ['more than 16 MiB', packed(CREATED.padEnd(MOST + 1)), 'push', 11],
])('a success with %s is none (%#)', async (_what, answer, line, code) => {
  expect(await answered(answer, line)).toEqual({ code, stdout: '', requests: 1 });
});

test.each([
  ['', json(201, CREATED.padEnd(MOST))],
  ['unpacked, ', packed(CREATED.padEnd(MOST))],
])('a success of %s16 MiB is one', async (_how, answer) => {
  expect(await answered(answer, 'push')).toEqual({ code: 0, stdout: LINK, requests: 1 });
});

const made = ['push', 'push --json', 'push --each', 'request', 'request --json'];
test.each(made)('a link that cannot be printed, and no token, leaves %s open', async (line) => {
  for (const html_url of ['https://pw.test/p/x\nhttps://e.test/p/x', 'https://pw.test/p/x y']) {
    const { code, stdout } = await answered(json(201, JSON.stringify({ html_url })), line);
    expect([code, /https?:\S*\/[pr]\//.test(stdout)]).toEqual([11, false]);
  }
});

test.each([
  ['a fraction of views', { views_remaining: 1.5 }],
  ['a flag that is a text', { deletable_by_viewer: 'true' }],
  ['files that are none', { files: [1] }],
  ['a token that is a path', { url_token: '../../etc' }],
])('costs nobody the secret, or the link: %s', async (_what, change) => {
  const got = await answered(json(200, changed(RETRIEVED, change)), 'get quyul5r5w08');
  const made = await answered(json(201, changed(CREATED, change)), 'push');
  expect([got.stdout, made.stdout]).toEqual(['hunter2', LINK]);
});

test('nor does JSON that is nested 100,000 deep', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const answer = json(201, CREATED.replace(/}\s*$/, `,"more":${deep}}`));
  const { stdout } = await answered(answer, 'push --json');
  expect(JSON.parse(stdout).html_url).toBe(LINK.trim());
});

test.each([
  [300, ''],
  [301, '…'],
])('of %i characters that an instance says, 300 are printed', async (length, end) => {
  const answer = json(422, JSON.stringify({ error: 'x'.repeat(length) }));
  const { stderr } = await asking([answer], ['push'], { stdin: 'hunter2' });
  expect(stderr).toBe(`pwpush: the instance refused the request: ${'x'.repeat(300)}${end}\n`);
});

test.each(['base', 'errors', 'error'])('what an instance says as %j is of no field', async (name) => {
  const answer = json(422, JSON.stringify({ [name]: ['cannot be done'] }));
  const { stderr } = await asking([answer], ['push'], { stdin: 'hunter2' });
  expect(stderr).toBe('pwpush: the instance refused the request: cannot be done\n');
});

/** Several lines, each of which may be sent back; pages: test/cases/unexpected-responses.txt. */
const key = '-----BEGIN PRIVATE KEY-----\nMIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQDG\n';

const UNSAID = 'its response is not shown, as it repeats what was sent';

test.each([
  ['the payload', 'bad value hunter2hunter2!', 'hunter2hunter2'],
  ['the token', 'bad token t0ken', 'hunter2'],
  ['one line of the payload', `bad ${key.split('\n')[1]}`, key],
  ['the start of a long payload', `bad ${'x'.repeat(200)}`, 'x'.repeat(5000)],
  ['its end', 'bad …90123hunter2', '12345678901234567890123hunter2'],
  ['a short passphrase where it stands alone', 'pass: no', 'hunter2'],
  ['a short secret with a sign', 'no p@ss1!', 'p@ss1'],
  ['as a URL has it', 'GET /?q=a%20secret%2Fhere', 'a secret/here'],
  ['a short one in a URL', 'GET /?q=a%2Bb%40c&x', 'a+b@c'],
  ['as a page has it', 'a&lt;b&amp;c-hunter2', 'a<b&c-hunter2'],
  ['as JSON has it', 'password=\\"hunter2\\"', 'user=me\npassword="hunter2"\n'],
  ['eight characters of it', 'no abcdefgh!', 'abcdefghijkl'],
  ['but seven', 'no abcdefg!', 'abcdefghijkl'],
  ['but three that are all', 'no abc!', 'abc'],
  ['but a short passphrase inside another word', 'too many passphrases', 'hunter2'],
])('what an instance echoes is not printed: %s', async (what, message, payload) => {
  const answer = json(422, JSON.stringify({ error: message }));
  const env = { PWPUSH_PASSPHRASE: 'pass', PWPUSH_TOKEN: 't0ken' };
  const { stderr } = await asking([answer], ['push'], { env, stdin: payload });
  const said = what.startsWith('but') ? message : UNSAID;
  expect(stderr).toBe(`pwpush: the instance refused the request: ${said}\n`);
});

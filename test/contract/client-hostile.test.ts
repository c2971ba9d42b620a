import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exitStatus } from '../../src/platform/errors';
import { asking } from '../helpers/foreign';
import { times } from '../helpers/long';
import * as reference from '../helpers/reference';
import { place } from '../helpers/run';
import { json, type Literal } from '../helpers/wire';

const { AUDITED, CREATED, changed, EXPIRED, NOTIFIED, RETRIEVED, VERSION } = reference;

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
    fc.constantFrom(CREATED, RETRIEVED, EXPIRED, AUDITED, NOTIFIED, VERSION),
    fc.array(
      fc.tuple(
        fc.constantFrom(
          ...['url_token', 'html_url', 'payload', 'files', 'logs', 'features', 'name', 'expired'],
          ...['expire_after_days', 'views_remaining', 'passphrase', 'created_at', 'error', 'url'],
        ),
        fc.oneof(
          anything,
          fc.array(fc.record({ filename: hostile, url: hostile, content_type: anything })),
        ),
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

const packers: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
};

const body = fc
  .tuple(
    fc.oneof(unpacked, fc.uint8Array({ maxLength: 200 })),
    fc.constantFrom('', '', '', 'gzip', 'deflate', 'br', 'x-unknown'),
  )
  .map(([content, coding]) => {
    const bytes = Buffer.from(content as Uint8Array);
    const headers = coding === '' ? {} : { 'content-encoding': coding };
    return { body: packers[coding]?.(bytes) ?? bytes, headers };
  });

const answers: fc.Arbitrary<Literal> = fc
  .record({
    status: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(200, 201, 200, 201, 401, 403, 404, 422, 429, 503) },
      fc.constantFrom(204, 206, 301, 302, 303, 304, 307, 308, 400, 413, 418, 500, 502),
      fc.integer({ min: 200, max: 999 }),
    ),
    type: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('application/json', 'text/html') },
      hostile,
    ),
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
  ...['list expired --json', 'audit abc', 'wait abc --for 20', 'notify abc a@b.test', 'version'],
  ...['version --json', 'login https://pw.test'],
];

const ends = [0, ...Object.values(exitStatus)] as number[];
const secret = 'correct horse battery staple';

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
    send: async () => {
      const answer = given[asked++ % given.length] as Literal;
      return { status: answer.status, headers: answer.headers ?? {}, body: pieces(answer) };
    },
  });
  const words = line.split(' ').map((word) => word.replace('OUT', here.file('out')));
  const outcome = await here.run(...words);
  here.close();
  return { ...outcome, asked, waited: here.sleeps.reduce((sum, one) => sum + one, 0) / 1000 };
}

async function* pieces({ body = '' }: Literal) {
  const bytes = Buffer.from(body as Uint8Array);
  yield bytes.subarray(0, 1);
  yield bytes.subarray(1);
}

test.each(lines)(
  'an instance that answers whatever it likes ends %s with a status',
  async (line) => {
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
  },
);

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
    ['push --each', [forging(CREATED)], false],
    ['push --encrypt', [forging(CREATED)], true],
    ['get abc --no-files', [forging(RETRIEVED, { files })], false],
    ['get abc --no-files --no-decrypt', [forging(RETRIEVED, { files })], false],
    ['get https://pw.test/api/v2/requests/abc --no-files', [requests], false],
    ['respond https://pw.test/r/abc', [requests.replace('closed', 'open'), requests], undefined],
    ['expire abc', [forging(EXPIRED)], undefined],
    ['show abc', [forging(AUDITED), row(CREATED, { url_token: 'abc' })], undefined],
    ['list', [row(CREATED)], undefined],
    ['notify abc a@b.test', [forging(NOTIFIED)], undefined],
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

describe('a response that is expensive to process', () => {
  const values = (text: string) => `[{"url_token":"abc","x":[${text.repeat(300_000)}1]}]`;
  test.each([
    ['arrays', values('[],')],
    ['objects', values('{},')],
    ['numbers', values('1,')],
    ['one key each', `[{${Array.from({ length: 260_000 }, (_, at) => `"${at}":0`).join(',')}}]`],
  ])('%s by the hundred thousand are not made into values', async (_what, text) => {
    const { code, stdout, stderr } = await asking([json(200, text)], ['list']);
    expect([code, stdout, stderr.includes('unexpected response')]).toEqual([1, '', true]);
  });

  test('commas and brackets in a text are no values', async () => {
    const payload = `${',[{'.repeat(300_000)}"\\`;
    const { stdout } = await asking([json(200, changed(RETRIEVED, { payload }))], ['get', 'abc']);
    expect(stdout === payload).toBe(true);
  });

  test('files by the thousand are not tried one after the other; the answer is saved', async () => {
    const files = Array.from({ length: 1000 }, () => ({ filename: 'a', url: 'https://pw.test/f' }));
    const answer = json(200, changed(RETRIEVED, { files }));
    const { code, stderr, sent } = await asking([answer], ['get', 'abc']);
    expect([code, /saved to \//.test(stderr), sent.length]).toEqual([11, true, 1]);
  });

  test('an error text of mebibytes is not looked through for an echo', async () => {
    const said = Array.from({ length: 400_000 }, (_, at) => `${at}x`).join(' ');
    const answer = json(422, JSON.stringify({ error: said }));
    const { stderr } = await asking([answer], ['push'], { stdin: secret });
    expect(stderr).toBe(`pwpush: the instance refused the request: ${said.slice(0, 300)}…\n`);
  });
});

test('a content type that repeats the passphrase is not quoted', async () => {
  const answer = { ...json(200, '[]'), headers: { 'content-type': `json/${secret}` } };
  const { stderr } = await asking([answer], ['get', 'abc'], { env: { PWPUSH_PASSPHRASE: secret } });
  expect(stderr).not.toContain('horse');
});

test.each(['show abc', 'expire abc --json', 'audit abc --debug', 'list --json'])(
  'a response to %s that is not understood is not quoted: it may hold a secret',
  async (line) => {
    const answer = json(201, JSON.stringify({ payload: secret, url_token: 1, logs: 1 }));
    const { code, stderr } = await asking([answer], line.split(' '), {
      env: { PWPUSH_TOKEN: 't' },
    });
    expect([code, stderr.includes('unexpected response')]).toEqual([1, true]);
    expect(stderr).not.toContain('horse');
  },
);

import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../../src/server/store/sql';
import {
  type FormPart,
  filePart,
  fileRows,
  opened,
  partsOf,
  type TestService,
  testService,
} from '../../helpers/service';
import { onEachStore } from '../../helpers/stores';

const MINUTE = 60_000;
const DAY = 86_400_000;
const CHUNK = 64 * 1024;

let service: TestService;

/** One service for tests that are the same on each store and leave each other's pushes alone. */
function inMemory(settings: Parameters<typeof testService>[0] = {}): void {
  beforeAll(async () => {
    service = await testService(settings);
  });
  afterAll(() => service.close());
}

const once = { expire_after_views: 1 };
const retrieve = async (token: string, query = '') => (await service.retrieve(token + query)).json;
const create = (push: object, ...files: FormPart[]) => service.createWithFiles(...files, ...partsOf(push));
/** The status, and the fields that are told as wrong, or `error`. */
const refused = async (...form: FormPart[]) => {
  const how = { form, ...service.asAdmin };
  const { status, json } = await service.call('POST', '/api/v2/pushes', how);
  return [status, ...Object.keys(json).sort()];
};
const status = async (url: string) => (await service.fetchLink(url)).status;
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const linksOf = async (token: string): Promise<[string, ...string[]]> =>
  (await retrieve(token)).files.map(({ url }: { url: string }) => url);
const links = async (...how: Parameters<typeof create>) => linksOf(await create(...how));
const A = filePart('a', 'A');

onEachStore((store) => {
  let beside: Database;

  beforeEach(async () => {
    const room = await store.room();
    service = await opened(room.settings);
    beside = await room.beside();
    return () => beside.close();
  });

  describe('what goes in comes out', () => {
    test.each([0, 1, CHUNK, CHUNK + 1, 40 * CHUNK + 7])('%i bytes', async (size) => {
      const bytes = randomBytes(size);
      const [url] = await links({}, filePart('a', bytes));
      const got = await service.fetchLink(url);
      expect([got.status, got.headers.get('content-length')]).toEqual([200, `${size}`]);
      expect(digest(got.bytes)).toBe(digest(bytes));
    });

    test('ten files of all sizes and a message, in their order', async () => {
      const files = Array.from({ length: 10 }, (_, i) => randomBytes(i * 30_000));
      const parts = files.map((bytes, i) => filePart(`${i}.bin`, bytes, 'application/x-thing'));
      const token = await create({ payload: 'a message\n' }, ...parts);
      const push = await retrieve(token);
      expect(push.payload).toBe('a message\n');
      expect(push.files.map(({ url: _, ...file }: { url: string }) => file)).toEqual(
        files.map((_, i) => ({ filename: `${i}.bin`, content_type: 'application/x-thing' })),
      );
      for (const [i, { url }] of push.files.entries()) {
        expect(digest((await service.fetchLink(url)).bytes)).toBe(digest(files[i] as Buffer));
      }
    });

    test('in any order of parts', async () => {
      const limits = { expire_after_days: 3, deletable_by_viewer: false, retrieval_step: false };
      const others = { passphrase: 'sesame', expire_after_views: 4, payload: 'message' };
      const parts = [A, ...partsOf(limits), filePart('b', 'B'), ...partsOf(others)];
      for (const form of [parts, parts.toReversed()]) {
        const token = await service.createWithFiles(...form);
        const { files, ...push } = await retrieve(token, '?passphrase=sesame');
        expect(push).toMatchObject({ payload: 'message', views_remaining: 3, ...limits });
        expect(files).toHaveLength(2);
      }
    });
  });

  test('a link leads to its file for five minutes, and takes no view', async () => {
    const token = await create({ expire_after_views: 2 }, A);
    const [url] = await linksOf(token);
    for (let i = 0; i < 5; i += 1) expect(await status(url)).toBe(200);
    service.clock.advance(5 * MINUTE - 1);
    expect(await status(url)).toBe(200);
    service.clock.advance(1);
    const late = await service.fetchLink(url);
    expect([late.status, late.json]).toEqual([404, { error: 'not-found' }]);
    const again = await retrieve(token);
    expect([again.views_remaining, await status(again.files[0].url)]).toEqual([0, 200]);
  });

  describe('the files end', () => {
    const rows = async () => {
      await service.service.pushes.finish();
      return fileRows(beside);
    };
    const swept = async () => {
      await service.service.housekeeping.sweep();
      return rows();
    };
    const NONE = [0, 0, 0];
    const begun = async (url: string) => {
      const { body } = await service.fetch(new Request(url));
      const reader = (body as ReadableStream<Uint8Array>).getReader();
      return { reader, first: (await reader.read()).value as Uint8Array };
    };

    test('after the last view with the links that were handed out, swept or not', async () => {
      const token = await create(once, A);
      const { files, expired, views_remaining } = await retrieve(token);
      expect([expired, views_remaining]).toEqual([false, 0]);
      expect(await retrieve(token)).toMatchObject({ expired: true, payload: null, files: [] });
      const listed = { url_token: token, expired: true, deleted: false };
      expect(await service.list('expired')).toMatchObject([listed]);
      service.clock.advance(5 * MINUTE - 1);
      expect([await swept(), await status(files[0].url)]).toEqual([[1, 1, 1], 200]);
      service.clock.advance(1);
      expect([await status(files[0].url), await swept()]).toEqual([404, NONE]);
    });

    test('for a download that has begun, too, when someone ends the push', async () => {
      const token = await create({}, filePart('a', randomBytes(5 * CHUNK)));
      const [url] = await linksOf(token);
      // Nothing is deleted any more: what cannot be read is not gone.
      service.service.housekeeping.halt();
      const { reader } = await begun(url);
      await service.expire(token);
      await expect(reader.read()).rejects.toThrow();
      expect(await rows()).toEqual([1, 1, 5]);
    });

    test.each([
      ['of the last view', once],
      ['of others', {}],
    ])('for a download that began, too, when the time of the push is over: %s', async (_, push) => {
      const size = 5 * CHUNK;
      const token = await create({ ...push, expires_in: 120 }, filePart('a', randomBytes(size)));
      const [url] = await linksOf(token);
      const { reader } = await begun(url);
      service.clock.advance(2 * MINUTE - 1);
      expect((await reader.read()).value).toHaveLength(CHUNK);
      service.clock.advance(1);
      await expect(reader.read()).rejects.toThrow();
      expect(service.lines.join()).not.toMatch(/ error /);
    });

    test.each([
      ['though its links would last longer', MINUTE, once],
      ['whether or not the sweep came by', 1, {}],
    ])('with the time of the push, %s', async (_, left, push) => {
      const token = await create({ ...push, expire_after_days: 1 }, A);
      service.clock.advance(DAY - left);
      const [url] = await linksOf(token);
      service.clock.advance(left - 1);
      expect(await status(url)).toBe(200);
      service.clock.advance(1);
      expect([await status(url), await swept()]).toEqual([404, NONE]);
    });

    test('a download that began in time goes on', async () => {
      const bytes = randomBytes(5 * CHUNK);
      const [url] = await links(once, filePart('a', bytes));
      const { reader, first } = await begun(url);
      const pieces = [first];
      service.clock.advance(10 * MINUTE);
      expect(await swept()).toEqual([1, 1, 5]);
      expect(await status(url)).toBe(404);
      for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
      expect(digest(Buffer.concat(pieces))).toBe(digest(bytes));
      expect(await swept()).toEqual(NONE);
    });

    test('a download that nobody goes on with does not hold them', async () => {
      const [url] = await links(once, filePart('a', randomBytes(5 * CHUNK)));
      await (await begun(url)).reader.cancel();
      service.clock.advance(5 * MINUTE);
      expect(await swept()).toEqual(NONE);
    });

    // When someone ends it before: test/server/secrets-at-rest.test.ts, ../http/abuse.test.ts.
    test('at once when someone ends it after its last view, which stays what ended it', async () => {
      const token = await create(once, A);
      const [url] = await linksOf(token);
      const { json } = await service.expire(token);
      expect([json.expired, json.deleted]).toEqual([true, false]);
      expect([await status(url), await rows()]).toEqual([404, NONE]);
    });

    test('when the upload was refused', async () => {
      const large = filePart('a', Buffer.alloc(100 * CHUNK));
      expect((await refused(large, ...partsOf({ expire_after_days: 0 })))[0]).toBe(422);
      expect(await rows()).toEqual(NONE);
    });
  });
});

const BYTES = 'application/octet-stream';
const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

const INERT = ['application/pdf', 'audio/a', 'font/a', 'image/png', 'model/a', 'text/csv', 'video/a'];
// biome-ignore format: a list
const ACTIVE = [
  'text/html', 'text/xhtml', 'text/xml', 'text/xsl', 'image/svg', 'text/css', 'application/wasm', 'application/x-flash',
  'text/cache-manifest', 'text/javascript', 'text/script', 'image/svg+xml', 'multipart/mixed',
];

describe('names and types', () => {
  inMemory();

  test.each([
    ['käse 🧀.txt', 'käse 🧀.txt'],
    ['a%22b%0Ac.txt', 'a"b_c.txt'],
    ['a\\"b.txt', 'a"b.txt'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\me\\x.doc', 'x.doc'],
    ['..', 'file'],
    ['', 'file'],
    ['a\u202e\x1b[2Jtxt.exe', 'a__[2Jtxt.exe'],
    ["; filename*=UTF-8''x", "; filename*=UTF-8''x"],
    ['n'.repeat(255), 'n'.repeat(255)],
  ])('%j is handed out as %j', async (sent, name) => {
    const { files } = await retrieve(await create({}, filePart(sent, 'x')));
    expect(files[0].filename).toBe(name);
    const { headers } = await service.fetchLink(files[0].url);
    const disposition = headers.get('content-disposition') ?? '';
    const [, fallback = '', extended = ''] =
      /^attachment; filename="([^"\\%]*)"; filename\*=UTF-8''([\w!#$&+.^`|~%-]*)$/.exec(disposition) ?? [];
    expect([decodeURIComponent(extended), fallback.length > 0]).toEqual([name, true]);
  });

  test.each([
    [`form-data; name="push[files][]"; filename*=UTF-8''%e2%82%ac.txt`, '€.txt'],
    [`form-data; filename*=iso-8859-1'en'%a3; name="push[files][]"`, '£'],
    [`form-data; name="push[files][]"; filename="x"; filename*=UTF-8''%ff`, 'x'],
    ['form-data;name="push[files]";filename="x;y"', 'x;y'],
  ])('%s', async (disposition, name) => {
    const { json } = await service.call('POST', '/api/v2/pushes', {
      ...service.asAdmin,
      headers: { 'content-type': 'multipart/form-data; boundary="b b"' },
      content: `--b b\r\nContent-Disposition: ${disposition}\r\n\r\nx\r\n--b b--\r\n`,
    });
    expect((await retrieve(json.url_token)).files[0].filename).toBe(name);
  });

  test.each([
    ['text/plain; charset=utf-8', 'text/plain', 'text/plain'],
    [WORD, WORD, WORD],
    ...INERT.map((type) => [type, type, type] as const),
    // What a browser could show.
    ...ACTIVE.map((type) => [type, type, BYTES] as const),
    ['nonsense', BYTES, BYTES],
    [`audio/${'x'.repeat(127)}`, `audio/${'x'.repeat(127)}`, `audio/${'x'.repeat(127)}`],
    [`audio/${'x'.repeat(128)}`, BYTES, BYTES],
  ] as const)('%s is told as %s and downloaded as %s', async (sent, told, downloaded) => {
    const { files } = await retrieve(await create({}, filePart('a', 'x', sent)));
    expect(files[0].content_type).toBe(told);
    const { headers } = await service.fetchLink(files[0].url);
    expect(headers.get('content-type')).toBe(downloaded);
  });
});

describe('limits', () => {
  inMemory({ maxFileSize: 100_000 });

  test('a file may have as many bytes as the instance says, and not one more', async () => {
    const [url] = await links({}, filePart('a', Buffer.alloc(100_000)));
    expect((await service.fetchLink(url)).bytes).toHaveLength(100_000);
    const large = filePart('b', Buffer.alloc(100_001));
    expect(await refused(filePart('a', 'x'), large)).toEqual([413, 'error']);
  });

  test.each<[string, (string | number)[], ...FormPart[]]>([
    ['a payload', [422, 'payload'], ...partsOf({ payload: 'x'.repeat(1_048_577) })],
    ['a field', [422, 'expire_after_days'], ...partsOf({ expire_after_days: 91 })],
    ['another kind', [422, 'kind'], ...partsOf({ kind: 'url', payload: 'https://a.b' })],
    ['what is too long for a form', [413, 'error'], ...partsOf({ name: 'x'.repeat(3_000_000) })],
    ['other than UTF-8', [400, 'error'], { name: 'push[payload]', value: Buffer.from([0xff]) }],
    ['ten more files', [422, 'files'], ...Array<FormPart>(10).fill(A)],
    ['a filename', [422, 'files'], filePart('n'.repeat(256), 'x')],
    ['no filename', [422, 'files'], { name: 'push[files][]', value: 'x' }],
  ])('fields are checked as in JSON: %s', async (_what, expected, ...form) => {
    expect(await refused(filePart('a', 'x'), ...form)).toEqual(expected);
  });

  // Ten files, and 4 MiB for all else, of which each part of a form has its own limit.
  const most = 10 * 100_000 + 4 * 1024 ** 2;
  test.each([
    ['with a token', most, 201, 413],
    ['without one', 4 * 1024 ** 2, 201, 401],
  ])('a form %s says to have at most %i bytes', async (who, bytes, within, beyond) => {
    const token = who === 'with a token' ? service.asAdmin : {};
    const statuses = [bytes, bytes + 1].map(async (length) => {
      const how = { form: partsOf({ payload: 'x' }), headers: { 'content-length': `${length}` }, ...token };
      return (await service.call('POST', '/api/v2/pushes', how)).status;
    });
    expect(await Promise.all(statuses)).toEqual([within, beyond]);
  });

  test('files need a token where text needs none', async () => {
    const text = partsOf({ payload: 'x' });
    const post = async (form: FormPart[], headers = {}) =>
      (await service.call('POST', '/api/v2/pushes', { form, headers })).status;
    const waiting = { expect: '100-continue' };
    expect([await post([...text, A]), await post(text), await post(text, waiting)]).toEqual([401, 201, 401]);
  });
});

describe('a download', () => {
  inMemory();

  const bytes = randomBytes(3 * CHUNK + 100);
  let url: string;
  let tag: string;

  beforeAll(async () => {
    [url] = await links({}, filePart('a', bytes));
    tag = (await service.fetchLink(url, {}, 'HEAD')).headers.get('etag') ?? '';
  });

  test.each(['GET', 'HEAD'])('says what it is, and no browser shows it: %s', async (method) => {
    const range: Record<string, string> = method === 'HEAD' ? { range: 'bytes=0-0' } : {};
    const { headers, text } = await service.fetchLink(url, range, method);
    expect(text === '').toBe(method === 'HEAD');
    expect(Object.fromEntries(headers)).toEqual({
      'accept-ranges': 'bytes',
      'cache-control': 'no-store, no-transform',
      'content-disposition': `attachment; filename="a"; filename*=UTF-8''a`,
      'content-length': `${bytes.length}`,
      'content-security-policy': "default-src 'none'; sandbox",
      'content-type': 'text/plain',
      'cross-origin-resource-policy': 'same-origin',
      etag: tag,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'x-robots-tag': 'noindex',
    });
  });

  test.each([
    ['bytes=0-0', 0, 1],
    ['bytes=0-', 0, bytes.length],
    [`bytes=${CHUNK - 1}-${CHUNK}`, CHUNK - 1, CHUNK + 1],
    [`bytes=${CHUNK}-${2 * CHUNK - 1}`, CHUNK, 2 * CHUNK],
    ['bytes=100-99999999', 100, bytes.length],
    ['bytes=-1', bytes.length - 1, bytes.length],
    ['bytes=-99999999', 0, bytes.length],
  ])('%s', async (range, first, end) => {
    const got = await service.fetchLink(url, { range });
    expect(got.status).toBe(206);
    expect(Object.fromEntries(got.headers)).toMatchObject({
      'content-range': `bytes ${first}-${end - 1}/${bytes.length}`,
      'content-length': `${end - first}`,
    });
    expect(digest(got.bytes)).toBe(digest(bytes.subarray(first, end)));
  });

  test.each<[string, number, string | null]>([
    ['bytes=2-1', 200, null],
    ['bytes=0-1,5-6', 200, null],
    ['bytes=x', 200, null],
    [`bytes=${bytes.length}-`, 416, `bytes */${bytes.length}`],
    ['bytes=-0', 416, `bytes */${bytes.length}`],
  ])('%s is answered %i', async (range, status, told) => {
    const got = await service.fetchLink(url, { range });
    expect([got.status, got.headers.get('content-range')]).toEqual([status, told]);
    if (status === 200) expect(got.bytes).toHaveLength(bytes.length);
  });

  test('goes on only where it is the same file', async () => {
    const range = 'bytes=5-6';
    const ask = async (condition: string) => (await service.fetchLink(url, { range, 'if-range': condition })).status;
    expect([await ask(tag), await ask('"other"'), await ask(`W/${tag}`)]).toEqual([206, 200, 200]);
  });
});

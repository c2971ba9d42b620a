import { beforeEach, describe, expect, test } from 'vitest';
import { API_PATH } from '../../src/contract/api';
import { everyRoute } from '../../src/server/http/responses';
import {
  at,
  BOUNDARY,
  type Call,
  call,
  FORM_TYPE,
  filePart,
  inTab,
  opened,
  type TestService,
} from '../helpers/service';

let service: TestService;

beforeEach(async () => {
  service = await opened();
});

const post = (content: NonNullable<Call['content']>, type: string, headers = {}) =>
  service.call('POST', '/api/v2/pushes', {
    content,
    headers: { ...(type === '' ? {} : { 'content-type': type }), ...headers },
  });
const MIB = 1024 * 1024;
const jsonOf = (push: object) => JSON.stringify({ push });
const payloadOf = async (token: string) => (await service.retrieve(token)).json.payload;

/** Of a refusal: its status, and the names of the fields that are told as wrong, or `error`. */
const refused = async (...how: Parameters<typeof post>) => {
  const { status, json } = await post(...how);
  return [status, ...Object.keys(json)];
};

describe('bodies', () => {
  const JSON_TYPE = 'application/json';
  const FORM = 'application/x-www-form-urlencoded';
  const [controls, brackets] = ['\u0001'.repeat(1024 * 1024), '[{,"\\\\'.repeat(10_000)];

  test.each<[string, string, string, string?]>([
    ['odd keys', JSON_TYPE, '{"push":{"__proto__":{"kind":"song"},"constructor":1,"payload":"x"}}'],
    ['1 MiB, however it is escaped', JSON_TYPE, jsonOf({ payload: controls }), controls],
    ['what are no values', JSON_TYPE, jsonOf({ payload: brackets }), brackets],
    ['a form as curl -d sends it', `${FORM}; charset=utf-8`, 'push[payload]=hunter2', 'hunter2'],
    ['what is encoded', FORM, 'push%5Bpayload%5D=a%26b+%2B+%C3%BC%0A', 'a&b + ü\n'],
    ['a byte order mark', FORM, 'push[payload]=%EF%BB%BFx', '\ufeffx'],
    ['the last of two', FORM, 'push[payload]=y&push[payload]=x'],
    ['values that nobody asked for', FORM, 'zz=%&zz=%ff&push[payload]=x'],
  ])('with %s keep the payload', async (_, type, body, payload = 'x') => {
    const { status, json } = await post(body, type);
    expect([status, await payloadOf(json.url_token)]).toEqual([201, payload]);
  });

  const broken = () => new ReadableStream({ start: (controller) => controller.error(new Error('gone')) });
  test.each<[string, Call['content'], string]>([
    ['of another type', '{"push":{"payload":"x"}}', 'text/plain'],
    ['that is not UTF-8', Buffer.from('{"push":{"payload":"\xff"}}', 'latin1'), JSON_TYPE],
    ['that breaks off', broken(), JSON_TYPE],
    ['that is nested deeply', `{"push":{"payload":${'['.repeat(200_000)}`, JSON_TYPE],
  ])('one %s is refused', async (_, content = '', type) => {
    expect(await refused(content, type)).toEqual([400, 'error']);
  });

  test.each([
    ['gzip', JSON_TYPE],
    ['GZIP, br', FORM],
    ['zstd', FORM_TYPE],
  ])('one that is compressed is refused, and its coding named: %s', async (coding, type) => {
    const { status, headers, json } = await post('x', type, { 'content-encoding': coding });
    expect([status, headers.get('accept-encoding')]).toEqual([415, 'identity']);
    expect(json.error).toContain(` ${coding}:`);
    const page = { content: 'x', headers: { 'content-type': type, 'content-encoding': coding } };
    expect((await service.call('POST', '/', page)).status).toBe(415);
    const plain = await post(jsonOf({ payload: 'x' }), JSON_TYPE, { 'content-encoding': 'identity' });
    expect(plain.status).toBe(201);
  });

  describe('a form without files', () => {
    test('has all fields, numbers and flags as text', async () => {
      const body =
        'push[payload]=x&push[expire_after_days]=3&push[expire_after_views]=2&push[retrieval_step]=0' +
        '&push[deletable_by_viewer]=false&push[passphrase]=p&push[name]=n&push[note]=o&push[kind]=qr';
      const { status, json } = await post(body, FORM);
      expect(status).toBe(201);
      const flags = { retrieval_step: false, deletable_by_viewer: false };
      expect(json).toMatchObject({ expire_after_days: 3, expire_after_views: 2, name: 'n', note: 'o', ...flags });
    });

    test.each<[string, number, string]>([
      ['', 400, 'error'],
      ['push[payload]=100%', 400, 'error'],
      ['push[payload][]=x', 422, 'payload'],
      ['push[payload]=x&push[files][]=', 401, 'error'],
    ])('%j is answered %i', async (body, ...expected) => {
      expect(await refused(body, FORM)).toEqual(expected);
    });
  });

  const PAYLOAD = 'Content-Disposition: form-data; name="push[payload]"\r\n\r\n';

  // biome-ignore format: a table
  test.each<[string, number, string, (count: number) => string, number, number, string?]>([
    ['bytes of JSON', 8 * MIB, JSON_TYPE, (bytes) => jsonOf({ payload: 'x' }).padEnd(bytes), 201, 413],
    ['bytes of fields in JSON', 2 * MIB, JSON_TYPE, (bytes) => `{"push":{"payload":"${'\\n'.repeat(bytes - 11)}"}}`, 422, 413],
    ['bytes of fields in a form', 2 * MIB, FORM, (bytes) => `push[payload]=${'%01'.repeat(bytes - 14)}`, 422, 413],
    ['bytes of fields in parts', 2 * MIB, FORM_TYPE, (bytes) => `--${BOUNDARY}\r\n${PAYLOAD}${'x'.repeat(bytes)}\r\n--${BOUNDARY}--`, 422, 413],
    ['bytes of a payload, however it is encoded', MIB, FORM, (bytes) => `push[payload]=${'%01'.repeat(bytes)}`, 201, 422],
    ['bytes of a form of a page', 16 * 1024, FORM, (bytes) => 'passphrase='.padEnd(bytes, 'x'), 404, 413, '/p/neverwas'],
    ['fields', 100, FORM, (count) => `push[payload]=x${'&'.repeat(count - 1)}`, 201, 400],
    ['values', 1000, JSON_TYPE, (count) => `{"push":{"payload":"x","more":[1${',1'.repeat(count - 4)}]}}`, 201, 400],
  ])('at most so many %s: %i', async (_, most, type, body, within, beyond, path = '/api/v2/pushes') => {
    const sent = [most, most + 1].map((count) =>
      service.call('POST', path, { content: body(count), headers: { 'content-type': type } }),
    );
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([within, beyond]);
  });

  test.each([
    ['arrays that go deeper and deeper', '[', 1_000_000],
    ['fields', '"a":1,', 4_000_000 / 6],
  ])('more values than a creation has are refused before they are parsed: %s', async (_, value, count) => {
    const body = `{"push":{"payload":"x","more":${value.repeat(count)}`;
    const { status, json } = await post(body, JSON_TYPE);
    // Not as JSON that is cut, which it is too.
    expect([status, json.error.includes(' 1000 ')]).toEqual([400, true]);
  });

  test('one without an end is cut off at the limit, and one that says that it is too large is not read', async () => {
    let pulled = 0;
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(1024 * 1024).fill(32));
      },
      cancel() {
        cancelled = true;
      },
    });
    expect((await post(endless, JSON_TYPE)).status).toBe(413);
    expect([pulled < 12, cancelled]).toEqual([true, true]);
    const unread = new ReadableStream({ pull: () => Promise.reject(new Error('read')) });
    const length = { 'content-length': '8388609' };
    expect((await post(unread, JSON_TYPE, length)).status).toBe(413);
  });
});

test.each<[string, number, (length: number) => string]>([
  ['an address', 4096, (length) => `https://pw.test/${'x'.repeat(length - 16)}`],
  ['a host', 253, (length) => `https://${`${'x'.repeat(62)}.`.repeat(4)}${'x'.repeat(length - 252)}`],
  ['a label', 63, (length) => `https://${'é'.repeat(length)}.test/`],
])('%s of at most %i characters is a push of kind url', async (_, most, address) => {
  const created = await Promise.all(
    [most, most + 1].map((length) => {
      const body = { push: { kind: 'url', payload: address(length) } };
      return service.call('POST', '/api/v2/pushes', { body });
    }),
  );
  expect(created.map(({ status }) => status)).toEqual([201, 422]);
  expect(Object.keys(created[1]?.json)).toEqual(['payload']);
});

const noTokens = ['..%2factive', '%00', 'a.b', 'x'.repeat(129), "'%20OR%201=1--", '%F0%9F%98%80', '%zz'];
test.each(noTokens)('no push is called %s', async (token) => {
  const answer = await service.retrieve(token);
  expect([answer.status, answer.json]).toEqual([404, { error: 'not-found' }]);
});

test.each([
  ['0', 400],
  ['1', 200],
  ['200', 200],
  ['201', 400],
  ['1e2', 400],
])('page %s of a list is answered %i', async (page, status) => {
  expect((await service.call('GET', at(`active?page=${page}`), service.asAdmin)).status).toBe(status);
});

test.each([
  ['PATCH', '/api/v2/pushes/x', 'GET, DELETE'],
  ['POST', '/api/v2/pushes/x/audit', 'GET'],
])('%s %s is not allowed', async (method, path, allow) => {
  const { status, json, headers } = await service.call(method, path);
  expect([status, json, headers.get('allow')]).toEqual([405, { error: 'method-not-allowed' }, allow]);
});

test('nothing is kept by browsers, proxies or search engines', async () => {
  const { headers, text } = await service.call('GET', '/api/v2/version');
  expect(Object.fromEntries(headers)).toEqual({
    'cache-control': 'no-store, no-transform',
    'content-length': `${Buffer.byteLength(text)}`,
    'content-type': 'application/json; charset=utf-8',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'x-frame-options': 'DENY',
    'x-robots-tag': 'noindex',
  });
});

test('nothing is kept or rewritten on the way, whatever is asked for', async () => {
  const push = await service.createWithFiles(filePart('a', 'A'));
  const { json } = await service.retrieve(push);
  const file = new URL(json.files[0].url).pathname;
  const tokens = [push, await service.createRequest(), 'neverwas'];
  const paths = [
    ...everyRoute.map(({ path }) => API_PATH + path),
    ...['/', '/ask', '/open', '/up', '/none', '/api/v1/none', `${API_PATH}/none`, '/favicon.ico'],
    ...['/p/:token', '/p/:token/r', '/p/:token.json', '/p/:token)', '/r/:token', '/r/:token/x'],
    ...[file, '/files/none'],
  ];
  const statuses = new Set<number>();
  for (const path of new Set(paths))
    for (const token of path.includes(':token') ? tokens : [''])
      for (const method of ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS']) {
        const { status, headers } = await call(service, method, path.replace(':token', token));
        statuses.add(status);
        expect(`${path}: ${headers.get('cache-control')}`).toBe(`${path}: no-store, no-transform`);
      }
  expect([...statuses].sort()).toEqual([200, 302, 400, 401, 404, 405]);
});

test('links begin with the public address where there is one', async () => {
  const publicUrl = 'https://push.example.com/secret';
  service = await opened({ publicUrl: `${publicUrl}/` });
  const token = await service.createWithFiles(filePart('a', 'A'));
  const preview = await service.call('GET', at(token, '/preview'));
  expect(preview.json).toEqual({ url: `${publicUrl}/p/${token}/r` });
  const { json } = await service.retrieve(token);
  expect(json.files[0].url).toMatch(/^https:\/\/push\.example\.com\/secret\/files\/[\w-]+$/);
});

test.each([
  ['/secret', '/secret/p/*'],
  ['/secret', '/p/*'],
  ['/secret', '/secret/api/v2/pushes/*'],
  ['/secret', '/secret/p/*.json'],
  ['/secret', '/secret', 'GET', 200],
  ['/secret', '/secret/', 'GET', 200],
  ['/secret', '/secret/up', 'GET', 200],
  ['/secret', '/secretive/p/*', 'GET', 404],
  ['/secret', '/secret/secret/p/*', 'GET', 404],
  ['/a/b%20c', '/a/b%20c/p/*'],
  // What is a path of ours without it stays one.
  ['/p', '/p/*'],
  ['/p', '/p/p/*'],
  ['/api', '/api/v2/pushes/*'],
  ['/api', '/api/api/v2/pushes/*'],
  ['/ask', '/ask', 'GET', 200],
])('with the public path %s, %s is found, whether or not a proxy takes it off', async (...row) => {
  const [path, asked, method = 'GET', status = 200] = row;
  service = await opened({ publicUrl: `https://push.example.com${path}` });
  const token = await service.createOwn({ payload: 'hunter2', retrieval_step: false });
  const { text, ...answer } = await service.call(method, asked.replace('*', token), { headers: inTab });
  expect([answer.status, text.includes('hunter2')]).toEqual([status, status === 200 && asked.includes('*')]);
});

test('a path of the API may end with a slash', async () => {
  const token = await service.createOwn({ payload: 'hunter2' });
  const { asAdmin } = service;
  expect((await service.call('GET', '/api/v2/pushes/active/', asAdmin)).json).toHaveLength(1);
  expect((await service.call('GET', at(`${token}.json/`))).json.payload).toBe('hunter2');
  const body = { push: { payload: 'x' } };
  expect((await service.call('POST', '/api/v2/pushes/', { body })).status).toBe(201);
  expect((await service.call('GET', '/api/v2/pushes/active//', asAdmin)).status).toBe(404);
});

test('GET and HEAD /up answer while the database does, whatever token comes along', async () => {
  const answered = async () => {
    const up = (method: string) => service.call(method, '/up', { token: 'pwp_dead' });
    const [get, head] = [await up('GET'), await up('HEAD')];
    return [get.status, get.text, head.status, head.text];
  };
  expect(await answered()).toEqual([200, 'up\n', 200, '']);
  await service.close();
  expect(await answered()).toEqual([503, 'down\n', 503, '']);
  expect(service.lines.join('\n')).not.toContain('error');
});

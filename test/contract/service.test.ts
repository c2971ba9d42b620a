import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type TestService, testService } from '../helpers/service';

// Paths, methods, statuses and bodies stand here as `docs/wire.md` has them (column "ours"), not as the contract module
// does: a mistake that client and service share would not show otherwise. What the recorded requests ask is in
// recordings.test.ts.

let service: TestService;
beforeEach(async () => {
  service = await testService();
});
afterEach(() => service.close());

async function send(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
) {
  const init = { method, headers, ...(body === undefined ? {} : { body }) };
  const response = await service.fetch(new Request(`https://pw.test${path}`, init));
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    body: JSON.parse(await response.text()),
  };
}

/** The fields that every answer with a push has, as they are after `{"push":{"payload":"x"}}`. */
const pushBody = (token: string, overrides: Record<string, unknown> = {}) => ({
  url_token: token,
  html_url: `https://pw.test/p/${token}/r`,
  json_url: `https://pw.test/p/${token}.json`,
  expire_after_days: 7,
  expire_after_views: 5,
  days_remaining: 7,
  views_remaining: 5,
  expires_at: '2026-08-27T11:06:45.000Z',
  expired: false,
  expired_on: null,
  deletable_by_viewer: true,
  retrieval_step: true,
  deleted: false,
  passphrase: '',
  created_at: '2026-08-20T11:06:45.000Z',
  updated_at: '2026-08-20T11:06:45.000Z',
  ...overrides,
});

const JSON_TYPE = 'application/json; charset=utf-8';
const answered = (status: number, body: unknown) => ({ status, type: JSON_TYPE, body });
/** Of a refusal: its status, and the names of the fields that are told as wrong, or `error`. */
async function refused(...asked: Parameters<typeof send>) {
  const { status, type, body } = await send(...asked);
  expect([type, JSON.stringify(body).length > 15]).toEqual([JSON_TYPE, true]);
  return [status, ...Object.keys(body)];
}
const noToken = [401, 'error'];
const notFound = answered(404, { error: 'not-found' });
const noPassphrase = {
  error: expect.stringContaining('passphrase'),
  message: expect.stringContaining('`passphrase`'),
  status: 'unauthorized',
};
const asJson = { 'Content-Type': 'application/json' };
const asAdmin = () => ({ Authorization: `Bearer ${service.adminToken}` });
const asBob = () => ({ Authorization: `Bearer ${service.otherToken}` });

const post = (push: string, headers: Record<string, string> = {}, query = '') =>
  send('POST', `/api/v2/pushes${query}`, { ...asJson, ...headers }, push);

async function created(push: string, headers: Record<string, string> = {}): Promise<string> {
  const { status, body } = await post(push, headers);
  expect(status).toBe(201);
  return body.url_token;
}

describe('POST /api/v2/pushes', () => {
  test.each([
    ['null', 400, 'error'],
    [
      '{"push":{"payload":"x","expire_after_days":91,"expire_after_views":0}}',
      ...[422, 'expire_after_days', 'expire_after_views'],
    ],
    ['{"push":{"kind":"file"}}', 422, 'files'],
    ['{"push":{"payload":"x","files":["a"]}}', 422, 'files'],
  ])('%s is answered %i', async (body, ...expected) => {
    const headers = { ...asJson, ...asAdmin() };
    expect(await refused('POST', '/api/v2/pushes', headers, `${body}`)).toEqual(expected);
  });

  test('files need a token, however many', async () => {
    for (const push of ['{"payload":"x","files":[]}', '{"payload":"x","files":["a"]}'])
      expect(await refused('POST', '/api/v2/pushes', asJson, `{"push":${push}}`)).toEqual(noToken);
  });

  test.each([
    ['fr', '?locale=fr'],
    ['zh-CN', '?locale=zh-CN'],
    ['tlh', ''],
    ['fr%26x=y', ''],
  ])('push_locale=%s adds "%s" to the link', async (locale, query) => {
    const { body } = await post('{"push":{"payload":"x"}}', asAdmin(), `?push_locale=${locale}`);
    const { html_url } = body as { html_url: string };
    expect(new URL(html_url).search).toBe(query);
  });

  test.each([
    ...['"files":[]', '"files":null', '"notify_emails_to":null'],
    '"notify_emails_to":"","notify_emails_to_locale":"en"',
  ])('no files and nobody to e-mail are no such request: %s', async (fields) => {
    await created(`{"push":{"payload":"x",${fields}}}`, asAdmin());
  });
});

test('a path may end in .json, as clients of Password Pusher have it', async () => {
  const push = `/api/v2/pushes/${await created('{"push":{"payload":"x"}}', asAdmin())}`;
  const paths = ['/api/v2/version', '/api/v2/pushes/active', `${push}/audit`, `${push}/preview`];
  for (const path of paths)
    expect(await send('GET', `${path}.json`, asAdmin())).toEqual(
      await send('GET', path, asAdmin()),
    );
  expect((await send('GET', '/api/v2/pushes/active.json?page=2', asAdmin())).body).toEqual([]);
  expect((await send('DELETE', `${push}.json`)).body.deleted).toBe(true);
  expect((await send('GET', '/api/v2/openapi.json')).status).toBe(200);
  for (const path of ['/api/v2/openapi', `${push}.xml`])
    expect((await send('GET', path)).status).toBe(404);
});

describe('POST /api/v2/pushes with files', () => {
  // As docs/wire.md has it: fields `push[…]`, booleans as words, numbers as text, one `push[files][]` a file.
  const form = [
    ['push[payload]', '', 'with regards'],
    ['push[kind]', '', 'file'],
    ['push[expire_after_days]', '', '3'],
    ['push[expire_after_views]', '', '2'],
    ['push[deletable_by_viewer]', '', 'false'],
    ['push[retrieval_step]', '', 'true'],
    ['push[passphrase]', '', 'open sesame'],
    ['push[name]', '', 'keys'],
    ['push[note]', '', 'third floor'],
    ['push[files][]', '; filename="id.pub"\r\nContent-Type: text/plain', 'ssh-ed25519 AAAA\n'],
    ['push[files][]', '; filename="käse.png"\r\nContent-Type: image/png', '\x00PNG'],
  ]
    .map(([name, rest, value]) => {
      const head = `Content-Disposition: form-data; name="${name}"${rest}`;
      return `--3f9a\r\n${head}\r\n\r\n${value}\r\n`;
    })
    .join('')
    .concat('--3f9a--\r\n');
  const asForm = { 'Content-Type': 'multipart/form-data; boundary=3f9a' };

  test('answers 201; the retrieval hands out links that answer the files', async () => {
    const answer = await send('POST', '/api/v2/pushes', { ...asForm, ...asAdmin() }, form);
    const token = answer.body.url_token;
    const push = pushBody(token, {
      expire_after_days: 3,
      expires_at: '2026-08-23T11:06:45.000Z',
      expire_after_views: 2,
      days_remaining: 3,
      views_remaining: 2,
      deletable_by_viewer: false,
      passphrase: null,
    });
    expect(answer).toEqual(answered(201, { ...push, name: 'keys', note: 'third floor' }));

    const seen = await send('GET', `/api/v2/pushes/${token}?passphrase=open+sesame`);
    const [first, second] = seen.body.files;
    const files = [
      { filename: 'id.pub', content_type: 'text/plain', url: first.url },
      { filename: 'käse.png', content_type: 'image/png', url: second.url },
    ];
    const shown = { ...push, views_remaining: 1, payload: 'with regards', files };
    expect(seen).toEqual(answered(200, shown));
    expect(first.url).toMatch(/^https:\/\/pw\.test\/files\/[\w-]+$/);

    const file = await service.fetch(new Request(second.url));
    expect([file.status, await file.text()]).toEqual([200, '\x00PNG']);
    expect(Object.fromEntries(file.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': '4',
      'content-disposition': `attachment; filename="k_se.png"; filename*=UTF-8''k%C3%A4se.png`,
    });
  });

  test('is answered 413 for a file that is too large', async () => {
    const file = `--3f9a\r\nContent-Disposition: form-data; name="push[files][]"; filename="a"\r\n\r\n`;
    const body = `${file}${'x'.repeat(101 * 1024 * 1024)}\r\n--3f9a--\r\n`;
    const answer = await refused('POST', '/api/v2/pushes', { ...asForm, ...asAdmin() }, body);
    expect(answer).toEqual([413, 'error']);
  });
});

describe('GET /p/:token.json, the json_url', () => {
  test('answers what the API answers, by the same rules', async () => {
    const push = '{"push":{"payload":"x","expire_after_views":2,"passphrase":"sesame"}}';
    const token = await created(push, asAdmin());
    const path = `/p/${token}.json`;
    expect(await send('GET', path)).toEqual(answered(401, noPassphrase));
    expect((await send('GET', path, { Authorization: 'Bearer nonsense' })).status).toBe(401);
    expect((await send('GET', path, { 'Sec-Purpose': 'prefetch' })).status).toBe(400);
    const head = await service.fetch(new Request(`https://pw.test${path}`, { method: 'HEAD' }));
    expect(head.status).toBe(405);
    const owned = await send('GET', `${path}?passphrase=sesame`, asAdmin());
    expect([owned.body.payload, owned.body.views_remaining]).toEqual(['x', 2]);
    const seen = await send('GET', `${path}?passphrase=sesame`);
    expect([seen.status, seen.body.payload, seen.body.views_remaining]).toEqual([200, 'x', 1]);
    expect(seen.body.json_url).toBe(`https://pw.test${path}`);
    await send('GET', `${path}?passphrase=sesame`);
    expect(await send('GET', path)).toEqual(await send('GET', `/api/v2/pushes/${token}`));
  });

  test.each([
    ['GET', '/p/active.json'],
    ['GET', '/p/expired.json'],
    ['GET', '/p/token/r.json'],
    ['POST', '/p/token.json'],
    ['DELETE', '/p/token.json'],
  ])('%s %s is no such address', async (method, path) => {
    const headers = { authorization: `Bearer ${service.adminToken}` };
    const answer = await service.fetch(new Request(`https://pw.test${path}`, { method, headers }));
    const type = answer.headers.get('content-type');
    expect([answer.status, type]).toEqual([404, 'text/html; charset=utf-8']);
  });
});

test('the audit log says who looked, and where the link was found', async () => {
  const user_agent = 'curl/8';
  const referrer = 'https://chat.example/';
  const token = await created('{"push":{"payload":"x"}}', asAdmin());
  const path = `/api/v2/pushes/${token}`;
  await send('GET', path, { 'User-Agent': user_agent, Referer: referrer });
  const { logs } = (await send('GET', `${path}/audit`, asAdmin())).body;
  const seen = { kind: 'view', ip: '127.0.0.1', user_agent, referrer };
  expect(logs).toMatchObject([{ kind: 'creation' }, seen]);
});

test("GET /api/v2/pushes/active and /expired answer an owner's pushes with names and notes", async () => {
  const token = await created('{"push":{"payload":"x","name":"wifi","note":"attic"}}', asAdmin());
  await created('{"push":{"payload":"y","name":"not yours"}}', asBob());
  const list = (path: string) => send('GET', `/api/v2/pushes/${path}`, asAdmin());
  const active = pushBody(token, { name: 'wifi', note: 'attic' });
  expect(await list('active')).toEqual(answered(200, [active]));
  await send('DELETE', `/api/v2/pushes/${token}`, asAdmin());
  const ended = { expired: true, expired_on: active.created_at, deleted: true };
  const expired = { ...active, ...ended, passphrase: null, note: '' };
  expect(await list('expired?page=1')).toEqual(answered(200, [expired]));
  for (const path of ['active', 'expired?page=2']) expect((await list(path)).body).toEqual([]);
});

test.each([
  ['GET', '/p/nosuchpush.json'],
  ['GET', '/files/nonsense'],
  ['GET', '/api/v2/requests/unknown'],
  ['GET', '/api/v2'],
  ['GET', '/api/v1/pushes'],
  ['POST', '/api/v2/accounts'],
])('%s %s is answered 404', async (method, path) => {
  expect(await send(method, path)).toEqual(notFound);
});

test('a sixth passphrase try within a minute is answered 429 with Retry-After', async () => {
  const token = await created('{"push":{"payload":"x","passphrase":"right"}}');
  for (let tries = 0; tries < 5; tries++)
    expect((await send('GET', `/api/v2/pushes/${token}?passphrase=wrong`)).status).toBe(401);
  service.clock.advance(20_000);
  const path = `/api/v2/pushes/${token}?passphrase=right`;
  const answer = await service.fetch(new Request(`https://pw.test${path}`));
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '40']);
  expect(await refused('GET', path)).toEqual([429, 'error']);
  service.clock.advance(40_000);
  expect((await send('GET', path)).status).toBe(200);
});

test('with anonymous access off everything but version needs a token', async () => {
  const token = await created('{"push":{"payload":"x"}}');
  await service.close();
  service = await testService({ anonymous: false });
  const calls = [
    ['POST', '/api/v2/pushes'],
    ['GET', `/api/v2/pushes/${token}`],
    ['GET', `/api/v2/pushes/${token}/preview`],
    ['DELETE', `/api/v2/pushes/${token}`],
  ] as const;
  for (const [method, path] of calls) {
    expect(await refused(method, path)).toEqual(noToken);
    expect((await send(method, path, asBob())).status).not.toBe(401);
  }
  const version = await send('GET', '/api/v2/version');
  expect([version.status, version.body.features.anonymous_access]).toEqual([200, false]);
});

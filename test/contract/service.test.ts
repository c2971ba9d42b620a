import { beforeEach, describe, expect, test } from 'vitest';
import { opened, type TestService } from '../helpers/service';

// Paths, methods, statuses and bodies stand here as `docs/wire.md` has them (column "ours"), not as the contract module
// does: a mistake that client and service share would not show otherwise. What the recorded requests ask is in
// recordings.test.ts.

let service: TestService;
beforeEach(async () => {
  service = await opened();
});

const API = '/api/v2/pushes';
const asJson = { 'Content-Type': 'application/json' };
const get = (path: string, headers = {}) => service.call('GET', path, { headers });
const asAdmin = () => ({ Authorization: `Bearer ${service.adminToken}` });

const post = (push: string, headers = {}, path = API) =>
  service.call('POST', path, { headers: { ...asJson, ...headers }, content: `{"push":${push}}` });

async function created(push: string, headers = {}): Promise<string> {
  const { status, json } = await post(push, headers);
  expect(status).toBe(201);
  return json.url_token;
}

describe('POST /api/v2/pushes', () => {
  test('a refusal names the fields', async () => {
    const push = '{"payload":"x","expire_after_days":91,"expire_after_views":0}';
    const { status, json } = await post(push);
    expect([status, ...Object.keys(json)]).toEqual([...[422, 'expire_after_days', 'expire_after_views']]);
  });

  test('files need a token, however many', async () => {
    for (const push of ['{"payload":"x","files":[]}', '{"payload":"x","files":["a"]}'])
      expect((await post(push)).status).toBe(401);
  });

  test.each([
    ['fr', '?locale=fr'],
    ['zh-CN', '?locale=zh-CN'],
    ['tlh', ''],
    ['fr%26x=y', ''],
  ])('push_locale=%s adds "%s" to the link', async (locale, query) => {
    const { json } = await post('{"payload":"x"}', {}, `${API}?push_locale=${locale}`);
    expect(new URL(json.html_url).search).toBe(query);
  });
});

test('a path may end in .json, as clients of Password Pusher have it', async () => {
  const push = `${API}/${await created('{"payload":"x"}', asAdmin())}`;
  for (const path of ['/api/v2/version', `${API}/active`, `${push}/audit`, `${push}/preview`]) {
    const { status, text } = await get(`${path}.json`, asAdmin());
    expect([status, text]).toEqual([200, (await get(path, asAdmin())).text]);
  }
  expect((await get(`${API}/active.json?page=2`, asAdmin())).json).toEqual([]);
  expect((await service.call('DELETE', `${push}.json`)).json.deleted).toBe(true);
  for (const path of ['/api/v2/openapi', `${push}.xml`]) expect((await get(path)).status).toBe(404);
});

test('POST /api/v2/pushes with files answers 201; the retrieval hands out links that answer the files', async () => {
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
  ].map(([name, rest, value]) => {
    const head = `Content-Disposition: form-data; name="${name}"${rest}`;
    return `--3f9a\r\n${head}\r\n\r\n${value}\r\n`;
  });
  const { status, json } = await service.call('POST', API, {
    headers: { 'Content-Type': 'multipart/form-data; boundary=3f9a', ...asAdmin() },
    content: `${form.join('')}--3f9a--\r\n`,
  });
  const token = json.url_token;
  const push = {
    url_token: token,
    html_url: `http://pw.test/p/${token}/r`,
    json_url: `http://pw.test/p/${token}.json`,
    expire_after_days: 3,
    expire_after_views: 2,
    days_remaining: 3,
    views_remaining: 2,
    expires_at: '2026-08-23T11:06:45.000Z',
    expired: false,
    expired_on: null,
    deletable_by_viewer: false,
    retrieval_step: true,
    deleted: false,
    passphrase: null,
    created_at: '2026-08-20T11:06:45.000Z',
    updated_at: '2026-08-20T11:06:45.000Z',
  };
  expect([status, json]).toEqual([201, { ...push, name: 'keys', note: 'third floor' }]);

  const seen = await get(`${API}/${token}?passphrase=open+sesame`);
  const [first, second] = seen.json.files;
  const files = [
    { filename: 'id.pub', content_type: 'text/plain', url: first.url },
    { filename: 'käse.png', content_type: 'image/png', url: second.url },
  ];
  const shown = { ...push, views_remaining: 1, payload: 'with regards', files };
  expect([seen.status, seen.json]).toEqual([200, shown]);
  expect(first.url).toMatch(/^http:\/\/pw\.test\/files\/[\w-]+$/);

  const file = await service.fetchLink(second.url);
  expect([file.status, file.text]).toEqual([200, '\x00PNG']);
  expect(Object.fromEntries(file.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': '4',
    'content-disposition': `attachment; filename="k_se.png"; filename*=UTF-8''k%C3%A4se.png`,
  });
});

test('GET /p/:token.json, the json_url, answers what the API answers, by the same rules', async () => {
  const push = '{"payload":"x","expire_after_views":2,"passphrase":"sesame"}';
  const token = await created(push, asAdmin());
  const path = `/p/${token}.json`;
  expect(await get(path)).toMatchObject({
    status: 401,
    json: {
      error: expect.stringContaining('passphrase'),
      message: expect.stringContaining('`passphrase`'),
      status: 'unauthorized',
    },
  });
  expect((await get(path, { Authorization: 'Bearer nonsense' })).status).toBe(401);
  expect((await get(path, { 'Sec-Purpose': 'prefetch' })).status).toBe(400);
  expect((await service.call('HEAD', path)).status).toBe(405);
  const owned = await get(`${path}?passphrase=sesame`, asAdmin());
  expect([owned.json.payload, owned.json.views_remaining]).toEqual(['x', 2]);
  const seen = await get(`${path}?passphrase=sesame`);
  expect([seen.status, seen.json.payload, seen.json.views_remaining]).toEqual([200, 'x', 1]);
  expect(seen.json.json_url).toBe(`http://pw.test${path}`);
  await get(`${path}?passphrase=sesame`);
  expect((await get(path)).json).toEqual((await get(`${API}/${token}`)).json);
});

test('the audit log says who looked, and where the link was found', async () => {
  const [user_agent, referrer] = ['curl/8', 'https://chat.example/'];
  const token = await created('{"payload":"x"}', asAdmin());
  await get(`${API}/${token}`, { 'User-Agent': user_agent, Referer: referrer });
  const seen = { kind: 'view', ip: '127.0.0.1', user_agent, referrer };
  const { logs } = (await get(`${API}/${token}/audit`, asAdmin())).json;
  expect(logs).toMatchObject([{ kind: 'creation' }, seen]);
});

test("a listing has an owner's pushes, with names and notes, and nobody else's", async () => {
  const token = await created('{"payload":"x","name":"wifi","note":"attic"}', asAdmin());
  const others = { Authorization: `Bearer ${service.otherToken}` };
  await created('{"payload":"y","name":"not yours"}', others);
  const listed = { url_token: token, name: 'wifi', note: 'attic' };
  expect((await get(`${API}/active`, asAdmin())).json).toMatchObject([listed]);
  await service.expire(token, service.asAdmin);
  const expired = { ...listed, note: '', expired: true, deleted: true };
  expect((await get(`${API}/expired`, asAdmin())).json).toMatchObject([expired]);
  for (const path of ['active', 'expired?page=2']) expect((await get(`${API}/${path}`, asAdmin())).json).toEqual([]);
});

test('with anonymous access off everything but version, and what pages let viewers delete, needs a token', async () => {
  service = await opened({ anonymous: false });
  const calls = [
    ['POST', API],
    ['GET', `${API}/unknown`],
    ['GET', `${API}/unknown/preview`],
  ] as const;
  for (const [method, path] of calls) {
    expect((await service.call(method, path)).status).toBe(401);
    expect((await service.call(method, path, service.asOther)).status).not.toBe(401);
  }
  const { status, json } = await get('/api/v2/version');
  expect([status, json.features.anonymous_access]).toEqual([200, false]);
  const ended = async (deletable: boolean, query = '') => {
    const push = { payload: 'x', passphrase: 'p', deletable_by_viewer: deletable };
    const token = await created(JSON.stringify(push), asAdmin());
    return (await service.call('DELETE', `${API}/${token}${query}`)).status;
  };
  const passphrase = '?passphrase=p';
  expect([await ended(true), await ended(false, passphrase)]).toEqual([401, 403]);
  expect(await ended(true, passphrase)).toBe(200);
});

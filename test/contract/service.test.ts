import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type TestService, testService } from '../helpers/service';

// Paths, methods, statuses and bodies stand here as `docs/wire.md` has them (column "ours"), not as the contract module
// does: a mistake that client and service share would not show otherwise.

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

describe('GET /api/v2/version', () => {
  test('says what the instance is and can do', async () => {
    expect(await send('GET', '/api/v2/version')).toEqual(
      answered(200, {
        application_version: '0.1.0',
        api_version: '2.1',
        edition: 'oss',
        application: 'pwpush',
        features: {
          anonymous_access: true,
          api_token_authentication: true,
          accounts: { enabled: false },
          pushes: {
            enabled: true,
            email_auto_dispatch: false,
            file_attachments: { enabled: true, requires_authentication: true },
            url_pushes: { enabled: true },
            qr_code_pushes: { enabled: true },
            expires_in: { enabled: true },
            json_pages: { enabled: true },
            idempotency: true,
            key_proofs: true,
          },
          requests: { enabled: true },
        },
      }),
    );
  });

  test('is the same with a token that is not valid', async () => {
    expect(await send('GET', '/api/v2/version', { Authorization: 'Bearer nonsense' })).toEqual(
      await send('GET', '/api/v2/version'),
    );
  });
});

describe('POST /api/v2/pushes', () => {
  test('answers 201 with the push, its name and its note', async () => {
    const answer = await post(
      '{"push":{"payload":"hunter2","kind":"text","expire_after_days":3,"expire_after_views":4,"deletable_by_viewer":false,"retrieval_step":false,"passphrase":"open sesame","name":"wifi","note":"third floor"}}',
      asAdmin(),
    );
    const token = answer.body.url_token;
    expect(token).toMatch(/^[a-z0-9_-]{11,19}$/);
    const push = pushBody(token, {
      html_url: `https://pw.test/p/${token}`,
      expire_after_days: 3,
      expires_at: '2026-08-23T11:06:45.000Z',
      expire_after_views: 4,
      days_remaining: 3,
      views_remaining: 4,
      deletable_by_viewer: false,
      retrieval_step: false,
      passphrase: null,
      name: 'wifi',
      note: 'third floor',
    });
    expect(answer).toEqual(answered(201, push));
  });

  test('fills in 7 days, 5 views, deletable, retrieval step, and needs no token', async () => {
    const { body } = await post('{"push":{"payload":"hunter2"}}');
    expect(body).toEqual(pushBody(body.url_token, { name: '', note: '' }));
  });

  test('a url push has no deletable_by_viewer', async () => {
    const { status, body } = await post(
      '{"push":{"payload":"https://example.com/x?y=1","kind":"url","deletable_by_viewer":true}}',
    );
    expect([status, body.deletable_by_viewer]).toEqual([201, null]);
  });

  test('takes numbers as strings and booleans as words', async () => {
    const { status, body } = await post(
      '{"push":{"payload":"x","expire_after_days":"90","expire_after_views":"100","deletable_by_viewer":"false","retrieval_step":"true","colour":"red"}}',
    );
    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...{ expire_after_days: 90, expire_after_views: 100 },
      ...{ deletable_by_viewer: false, retrieval_step: true },
    });
  });

  test.each([
    ['{}', 400, 'error'],
    ['{"push":"x"}', 400, 'error'],
    ['{"push":[]}', 400, 'error'],
    ['null', 400, 'error'],
    ['{"push":{"payload":"hun', 400, 'error'],
    ['', 400, 'error'],
    ['{"push":{}}', 422, 'payload'],
    ['{"push":{"payload":" \\n "}}', 422, 'payload'],
    [
      '{"push":{"payload":"x","expire_after_days":91,"expire_after_views":0}}',
      ...[422, 'expire_after_days', 'expire_after_views'],
    ],
    ['{"push":{"kind":"file"}}', 422, 'files'],
    ['{"push":{"payload":"ftp://example.com","kind":"url"}}', 422, 'payload'],
    ['{"push":{"payload":"x","files":["a"]}}', 422, 'files'],
  ])('%s is answered %i', async (body, ...expected) => {
    const headers = { ...asJson, ...asAdmin() };
    expect(await refused('POST', '/api/v2/pushes', headers, `${body}`)).toEqual(expected);
  });

  test.each(['{"payload":"x","files":[]}', '{"payload":"x","files":["a"]}', '{"kind":"file"}'])(
    'files need a token, however many: %s',
    async (push) => {
      const body = `{"push":${push}}`;
      expect(await refused('POST', '/api/v2/pushes', asJson, body)).toEqual(noToken);
    },
  );

  test('an empty list of files is none', async () => {
    await created('{"push":{"payload":"x","files":[]}}', asAdmin());
    await created('{"push":{"payload":"x","files":null}}');
  });

  test.each(['"a@example.com"', '"a@example.com, b@example.com"', '"nobody"', '["a"]', '5'])(
    'an e-mail to %s is refused, and no push is kept: there is no mail',
    async (to) => {
      const push = `{"push":{"payload":"x","notify_emails_to":${to}}}`;
      const headers = { ...asJson, ...asAdmin() };
      const answer = await refused('POST', '/api/v2/pushes', headers, push);
      expect(answer).toEqual([422, 'notify_emails_to']);
      expect((await send('GET', '/api/v2/pushes/active', asAdmin())).body).toEqual([]);
    },
  );

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

  test('nobody to e-mail is no such request', async () => {
    await created('{"push":{"payload":"x","notify_emails_to":"","notify_emails_to_locale":"en"}}');
    await created('{"push":{"payload":"x","notify_emails_to":null}}');
  });

  test('the fields are taken without the push around them, as the reference does', async () => {
    const token = await created('{"payload":"x","expire_after_views":2}');
    const { body } = await send('GET', `/api/v2/pushes/${token}`);
    expect([body.payload, body.views_remaining]).toEqual(['x', 1]);
  });
});

describe('what clients of Password Pusher send besides', () => {
  test('a path may end in .json', async () => {
    const answer = await send(
      'POST',
      '/api/v2/pushes.json',
      { ...asJson, ...asAdmin() },
      '{"push":{"payload":"x"}}',
    );
    expect(answer.status).toBe(201);
    const push = `/api/v2/pushes/${answer.body.url_token}`;
    const paths = ['/api/v2/version', '/api/v2/pushes/active', `${push}/audit`, `${push}/preview`];
    for (const path of paths) {
      const there = await send('GET', path, asAdmin());
      expect(await send('GET', `${path}.json`, asAdmin())).toEqual(there);
    }
    const page = `/api/v2/pushes/active.json?page=2`;
    expect((await send('GET', page, asAdmin())).body).toEqual([]);
    const seen = await send('GET', `${push}.json`);
    expect([seen.body.payload, seen.body.views_remaining]).toEqual(['x', 4]);
    expect((await send('DELETE', `${push}.json`)).body.deleted).toBe(true);
    expect((await send('GET', '/api/v2/openapi.json')).status).toBe(200);
    expect((await send('GET', '/api/v2/openapi')).status).toBe(404);
    expect((await send('GET', `${push}.xml`)).status).toBe(404);
  });

  test.each([
    ['Authorization', (token: string) => `Token ${token}`],
    ['Authorization', (token: string) => `bearer ${token}`],
    ['X-User-Token', (token: string) => token],
  ])('%s has the token, too', async (header, spelled) => {
    await created('{"push":{"payload":"x"}}', { [header]: spelled(service.adminToken) });
    expect((await send('GET', '/api/v2/pushes/active', asAdmin())).body).toHaveLength(1);
    const wrong = { [header]: spelled('nonsense') };
    expect(await refused('GET', '/api/v2/pushes/active', wrong)).toEqual(noToken);
  });
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

  test('needs a token', async () => {
    expect(await refused('POST', '/api/v2/pushes', asForm, form)).toEqual(noToken);
  });

  test('is answered 422 for an eleventh file, 413 for one that is too large', async () => {
    const file = (bytes: number) =>
      `--3f9a\r\nContent-Disposition: form-data; name="push[files][]"; filename="a"\r\n\r\n${'x'.repeat(bytes)}\r\n`;
    const sent = (form: string) =>
      refused('POST', '/api/v2/pushes', { ...asForm, ...asAdmin() }, `${form}--3f9a--\r\n`);
    expect(await sent(file(1).repeat(11))).toEqual([422, 'files']);
    expect(await sent(file(101 * 1024 * 1024))).toEqual([413, 'error']);
  });

  test('a link that is no link is answered 404', async () => {
    expect(await send('GET', '/files/nonsense')).toEqual(notFound);
  });
});

describe('GET /api/v2/pushes/:token', () => {
  test('answers payload and files, and takes a view', async () => {
    const push = '{"push":{"payload":"hunter2\\n","expire_after_views":2,"name":"n","note":"m"}}';
    const token = await created(push);
    const content = { payload: 'hunter2\n', files: [] };
    const left = { expire_after_views: 2, views_remaining: 1 };
    const shown = pushBody(token, { ...left, ...content });
    expect(await send('GET', `/api/v2/pushes/${token}`)).toEqual(answered(200, shown));
  });

  test('the last view has the payload; after it the answer is still 200, expired and empty', async () => {
    const token = await created('{"push":{"payload":"hunter2","expire_after_views":1}}');
    const last = await send('GET', `/api/v2/pushes/${token}`);
    expect(last.status).toBe(200);
    expect(last.body).toMatchObject({ expired: false, views_remaining: 0, payload: 'hunter2' });
    const gone = pushBody(token, {
      expire_after_views: 1,
      views_remaining: 0,
      expired: true,
      expired_on: '2026-08-20T11:06:45.000Z',
      passphrase: null,
      payload: null,
      files: [],
    });
    expect(await send('GET', `/api/v2/pushes/${token}`)).toEqual(answered(200, gone));
  });

  test('the passphrase goes as a query parameter', async () => {
    const token = await created('{"push":{"payload":"hunter2","passphrase":"open sesame & more"}}');
    const path = `/api/v2/pushes/${token}`;
    const none = await send('GET', path);
    const wrong = await send('GET', `${path}?passphrase=sesame`);
    expect([none, wrong]).toEqual([answered(401, noPassphrase), answered(401, noPassphrase)]);
    expect(wrong.body.message).not.toBe(none.body.message);
    const right = await send('GET', `${path}?passphrase=open%20sesame+%26+more`);
    expect(right.status).toBe(200);
    expect(right.body).toMatchObject({ payload: 'hunter2', passphrase: null });
  });

  test('an unknown token is answered 404', async () => {
    expect(await send('GET', '/api/v2/pushes/nosuchpush')).toEqual(notFound);
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

  test('an unknown token is answered 404', async () => {
    expect(await send('GET', '/p/nosuchpush.json')).toEqual(notFound);
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

test('GET /api/v2/pushes/:token/preview answers the link and takes no view', async () => {
  const token = await created('{"push":{"payload":"x","expire_after_views":1}}');
  expect(await send('GET', `/api/v2/pushes/${token}/preview`)).toEqual(
    answered(200, { url: `https://pw.test/p/${token}/r` }),
  );
  expect((await send('GET', `/api/v2/pushes/${token}`)).body.payload).toBe('x');
});

describe('GET /api/v2/pushes/:token/audit', () => {
  test('answers what happened, oldest first', async () => {
    const agent = { 'User-Agent': 'curl/8', Referer: 'https://chat.example/' };
    const token = await created('{"push":{"payload":"x"}}', asAdmin());
    service.clock.advance(1500);
    await send('GET', `/api/v2/pushes/${token}`, agent);
    await send('GET', `/api/v2/pushes/${token}`, asAdmin());
    const row = (kind: string, created_at: string, user_agent = '', referrer = '') => {
      return { ip: '127.0.0.1', user_agent, referrer, kind, created_at, updated_at: created_at };
    };
    const logs = [
      row('creation', '2026-08-20T11:06:45.000Z'),
      row('view', '2026-08-20T11:06:46.500Z', 'curl/8', 'https://chat.example/'),
      row('owner_view', '2026-08-20T11:06:46.500Z'),
    ];
    const audit = await send('GET', `/api/v2/pushes/${token}/audit`, asAdmin());
    expect(audit).toEqual(answered(200, { logs }));
  });

  test('is refused without a token, to others, and past page 200', async () => {
    const token = await created('{"push":{"payload":"x"}}', asAdmin());
    const path = `/api/v2/pushes/${token}/audit`;
    expect(await refused('GET', path)).toEqual(noToken);
    expect(await refused('GET', path, asBob())).toEqual([403, 'error']);
    expect(await send('GET', `${path}?page=200`, asAdmin())).toEqual(answered(200, { logs: [] }));
    expect(await refused('GET', `${path}?page=201`, asAdmin())).toEqual([400, 'error']);
  });
});

describe('DELETE /api/v2/pushes/:token', () => {
  test('ends a push that viewers may end, once', async () => {
    const token = await created('{"push":{"payload":"x"}}');
    service.clock.advance(60_000);
    const ended = answered(
      200,
      pushBody(token, {
        expired: true,
        expired_on: '2026-08-20T11:07:45.000Z',
        deleted: true,
        passphrase: null,
        updated_at: '2026-08-20T11:07:45.000Z',
      }),
    );
    expect(await send('DELETE', `/api/v2/pushes/${token}`)).toEqual(ended);
    service.clock.advance(60_000);
    expect(await send('DELETE', `/api/v2/pushes/${token}`)).toEqual(ended);
  });

  test('is refused with 403 where viewers may not', async () => {
    const token = await created('{"push":{"payload":"x","deletable_by_viewer":false}}', asAdmin());
    const path = `/api/v2/pushes/${token}`;
    // Clients of Password Pusher know it by these words: there it is a 401.
    const refusal = answered(403, { error: 'That push is not deletable by viewers.' });
    expect(await send('DELETE', path)).toEqual(refusal);
    expect(await send('DELETE', path, asBob())).toEqual(refusal);
    expect((await send('DELETE', `/api/v2/pushes/${token}`, asAdmin())).status).toBe(200);
  });
});

describe('GET /api/v2/pushes/active and /expired', () => {
  test("answer an owner's pushes with names and notes", async () => {
    const token = await created('{"push":{"payload":"x","name":"wifi","note":"attic"}}', asAdmin());
    await created('{"push":{"payload":"y","name":"not yours"}}', asBob());
    const active = pushBody(token, { name: 'wifi', note: 'attic' });
    expect(await send('GET', '/api/v2/pushes/active', asAdmin())).toEqual(answered(200, [active]));
    await send('DELETE', `/api/v2/pushes/${token}`, asAdmin());
    const expired = {
      ...active,
      expired: true,
      expired_on: active.created_at,
      deleted: true,
      passphrase: null,
      note: '',
    };
    expect(await send('GET', '/api/v2/pushes/expired?page=1', asAdmin())).toEqual(
      answered(200, [expired]),
    );
    expect((await send('GET', '/api/v2/pushes/active', asAdmin())).body).toEqual([]);
    expect((await send('GET', '/api/v2/pushes/expired?page=2', asAdmin())).body).toEqual([]);
  });

  test.each(['0', '-1', '201', 'two', '1.5', ''])('page=%s is answered 400', async (page) => {
    const path = `/api/v2/pushes/active?page=${page}`;
    expect(await refused('GET', path, asAdmin())).toEqual([400, 'error']);
  });

  test.each(['active', 'expired'])('%s needs a token', async (list) => {
    expect(await refused('GET', `/api/v2/pushes/${list}`)).toEqual(noToken);
  });
});

test('POST /api/v2/pushes/:token/notify_emails is answered 404: there is no mail', async () => {
  const token = await created('{"push":{"payload":"x"}}', asAdmin());
  const body = '{"notify_emails_to":"a@example.com","notify_emails_to_locale":"en"}';
  const path = `/api/v2/pushes/${token}/notify_emails`;
  const answer = await refused('POST', path, { ...asJson, ...asAdmin() }, body);
  expect(answer).toEqual([404, 'error']);
});

test.each([
  ['GET', '/api/v2/requests/unknown'],
  ['GET', '/api/v2'],
  ['GET', '/api/v1/pushes'],
  ['POST', '/api/v2/accounts'],
])('%s %s is answered 404', async (method, path) => {
  expect(await send(method, path)).toEqual(notFound);
});

test('a sixth passphrase try within a minute is answered 429 with Retry-After', async () => {
  const token = await created('{"push":{"payload":"x","passphrase":"right"}}');
  const tries = Array.from({ length: 5 }, () =>
    send('GET', `/api/v2/pushes/${token}?passphrase=wrong`),
  );
  expect((await Promise.all(tries)).map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
  service.clock.advance(20_000);
  const path = `https://pw.test/api/v2/pushes/${token}?passphrase=right`;
  const refused = await service.fetch(new Request(path));
  const body = await refused.json();
  expect([refused.status, refused.headers.get('retry-after'), Object.keys(body as object)]).toEqual(
    [429, '40', ['error']],
  );
  service.clock.advance(40_000);
  expect((await service.fetch(new Request(path))).status).toBe(200);
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

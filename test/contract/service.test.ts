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
const noToken = answered(401, {
  error: 'This requires an API token: send it as Authorization: Bearer.',
});
const notFound = answered(404, { error: 'not-found' });
const asJson = { 'Content-Type': 'application/json' };
const asAdmin = () => ({ Authorization: `Bearer ${service.adminToken}` });
const asBob = () => ({ Authorization: `Bearer ${service.otherToken}` });

async function created(push: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await send('POST', '/api/v2/pushes', { ...asJson, ...headers }, push);
  expect(answer.status).toBe(201);
  return answer.body.url_token;
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
    const answer = await send(
      'POST',
      '/api/v2/pushes',
      { ...asJson, ...asAdmin() },
      '{"push":{"payload":"hunter2","kind":"text","expire_after_days":3,"expire_after_views":4,"deletable_by_viewer":false,"retrieval_step":false,"passphrase":"open sesame","name":"wifi","note":"third floor"}}',
    );
    const token = answer.body.url_token;
    expect(token).toMatch(/^[a-z0-9_-]{11,19}$/);
    expect(answer).toEqual(
      answered(
        201,
        pushBody(token, {
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
        }),
      ),
    );
  });

  test('fills in 7 days, 5 views, deletable, retrieval step, and needs no token', async () => {
    const answer = await send('POST', '/api/v2/pushes', asJson, '{"push":{"payload":"hunter2"}}');
    const token = answer.body.url_token;
    expect(answer.body).toEqual(
      pushBody(token, {
        name: '',
        note: '',
        management_token: expect.stringMatching(/^pwm_[\w-]{43}$/),
      }),
    );
  });

  test('a url push has no deletable_by_viewer', async () => {
    const answer = await send(
      'POST',
      '/api/v2/pushes',
      asJson,
      '{"push":{"payload":"https://example.com/x?y=1","kind":"url","deletable_by_viewer":true}}',
    );
    expect([answer.status, answer.body.deletable_by_viewer]).toEqual([201, null]);
  });

  test('takes numbers as strings and booleans as words', async () => {
    const answer = await send(
      'POST',
      '/api/v2/pushes',
      asJson,
      '{"push":{"payload":"x","expire_after_days":"90","expire_after_views":"100","deletable_by_viewer":"false","retrieval_step":"true","colour":"red"}}',
    );
    const { expire_after_days, expire_after_views, deletable_by_viewer, retrieval_step } =
      answer.body;
    expect([
      answer.status,
      expire_after_days,
      expire_after_views,
      deletable_by_viewer,
      retrieval_step,
    ]).toEqual([201, 90, 100, false, true]);
  });

  test.each([
    ['{}', 400, { error: 'The body must be an object with a `push` object.' }],
    ['{"push":"x"}', 400, { error: 'The body must be an object with a `push` object.' }],
    ['{"push":[]}', 400, { error: 'The body must be an object with a `push` object.' }],
    ['null', 400, { error: 'The body must be an object with a `push` object.' }],
    ['{"push":{"payload":"hun', 400, { error: 'The body is not valid JSON.' }],
    ['', 400, { error: 'The body is not valid JSON.' }],
    ['{"push":{}}', 422, { payload: ['Payload is required.'] }],
    ['{"push":{"payload":" \\n "}}', 422, { payload: ['Payload is required.'] }],
    ['{"push":{"payload":5}}', 422, { payload: ['Payload must be a string.'] }],
    [
      '{"push":{"payload":"x","expire_after_days":91,"expire_after_views":0}}',
      422,
      {
        expire_after_days: ['Expire after days must be an integer from 1 to 90.'],
        expire_after_views: ['Expire after views must be an integer from 1 to 100.'],
      },
    ],
    [
      '{"push":{"payload":"x","expire_after_days":"soon","expire_after_views":1.5}}',
      422,
      {
        expire_after_days: ['Expire after days must be an integer from 1 to 90.'],
        expire_after_views: ['Expire after views must be an integer from 1 to 100.'],
      },
    ],
    [
      '{"push":{"payload":"x","kind":"song"}}',
      422,
      { kind: ['Kind must be one of text, file, url, qr.'] },
    ],
    [
      '{"push":{"payload":"x","passphrase":" "}}',
      422,
      { passphrase: ['Passphrase must not be blank.'] },
    ],
    [
      '{"push":{"kind":"file"}}',
      422,
      {
        files: [
          'Files are required. Files are sent as multipart/form-data, each in a part named push[files][].',
        ],
      },
    ],
    [
      '{"push":{"payload":"ftp://example.com","kind":"url"}}',
      422,
      { payload: ['Payload must be one http or https address.'] },
    ],
    [
      '{"push":{"payload":"x","files":["a"]}}',
      422,
      {
        files: ['Files are sent as multipart/form-data, each in a part named push[files][].'],
      },
    ],
  ])('%s is answered %i', async (body, status, expected) => {
    expect(await send('POST', '/api/v2/pushes', { ...asJson, ...asAdmin() }, body)).toEqual(
      answered(status, expected),
    );
  });

  test.each(['{"payload":"x","files":[]}', '{"payload":"x","files":["a"]}', '{"kind":"file"}'])(
    'files need a token, however many: %s',
    async (push) => {
      expect(await send('POST', '/api/v2/pushes', asJson, `{"push":${push}}`)).toEqual(noToken);
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
      expect(await send('POST', '/api/v2/pushes', { ...asJson, ...asAdmin() }, push)).toEqual(
        answered(422, { notify_emails_to: ['This instance sends no e-mail.'] }),
      );
      expect((await send('GET', '/api/v2/pushes/active', asAdmin())).body).toEqual([]);
    },
  );

  test.each([
    ['fr', '?locale=fr'],
    ['zh-CN', '?locale=zh-CN'],
    ['tlh', ''],
    ['fr%26x=y', ''],
  ])('push_locale=%s adds "%s" to the link', async (locale, query) => {
    const path = `/api/v2/pushes?push_locale=${locale}`;
    const { body } = await send(
      'POST',
      path,
      { ...asJson, ...asAdmin() },
      '{"push":{"payload":"x"}}',
    );
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
    for (const path of [
      '/api/v2/version',
      '/api/v2/pushes/active',
      `${push}/audit`,
      `${push}/preview`,
    ])
      expect(await send('GET', `${path}.json`, asAdmin())).toEqual(
        await send('GET', path, asAdmin()),
      );
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
    const wrong = await send('GET', '/api/v2/pushes/active', { [header]: spelled('nonsense') });
    expect([wrong.status, wrong.body]).toEqual([401, { error: 'That token is not valid.' }]);
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
    expect(seen).toEqual(
      answered(200, {
        ...push,
        views_remaining: 1,
        payload: 'with regards',
        files: [
          { filename: 'id.pub', content_type: 'text/plain', url: first.url },
          { filename: 'käse.png', content_type: 'image/png', url: second.url },
        ],
      }),
    );
    expect(first.url).toMatch(/^https:\/\/pw\.test\/files\/[\w-]+$/);

    const file = await service.fetch(new Request(second.url));
    expect([
      file.status,
      file.headers.get('content-type'),
      file.headers.get('content-length'),
      file.headers.get('content-disposition'),
      await file.text(),
    ]).toEqual([
      200,
      'image/png',
      '4',
      `attachment; filename="k_se.png"; filename*=UTF-8''k%C3%A4se.png`,
      '\x00PNG',
    ]);
  });

  test('needs a token', async () => {
    expect(await send('POST', '/api/v2/pushes', asForm, form)).toEqual(
      answered(401, { error: 'Files require an API token.' }),
    );
  });

  test('is answered 422 for an eleventh file, 413 for one that is too large', async () => {
    const file = (bytes: number) =>
      `--3f9a\r\nContent-Disposition: form-data; name="push[files][]"; filename="a"\r\n\r\n${'x'.repeat(bytes)}\r\n`;
    const headers = { ...asForm, ...asAdmin() };
    const many = `${file(1).repeat(11)}--3f9a--\r\n`;
    expect(await send('POST', '/api/v2/pushes', headers, many)).toEqual(
      answered(422, { files: ['Too many files (maximum is 10).'] }),
    );
    const large = `${file(101 * 1024 * 1024)}--3f9a--\r\n`;
    expect(await send('POST', '/api/v2/pushes', headers, large)).toEqual(
      answered(413, { error: 'A file is larger than 100.0 MiB.' }),
    );
  });

  test('a link that is no link is answered 404', async () => {
    expect(await send('GET', '/files/nonsense')).toEqual(notFound);
  });
});

describe('GET /api/v2/pushes/:token', () => {
  test('answers payload and files, and takes a view', async () => {
    const token = await created(
      '{"push":{"payload":"hunter2\\n","expire_after_views":2,"name":"n","note":"m"}}',
    );
    expect(await send('GET', `/api/v2/pushes/${token}`)).toEqual(
      answered(
        200,
        pushBody(token, {
          expire_after_views: 2,
          views_remaining: 1,
          payload: 'hunter2\n',
          files: [],
        }),
      ),
    );
  });

  test('the last view has the payload; after it the answer is still 200, expired and empty', async () => {
    const token = await created('{"push":{"payload":"hunter2","expire_after_views":1}}');
    const last = await send('GET', `/api/v2/pushes/${token}`);
    expect([last.status, last.body.expired, last.body.views_remaining, last.body.payload]).toEqual([
      200,
      false,
      0,
      'hunter2',
    ]);
    expect(await send('GET', `/api/v2/pushes/${token}`)).toEqual(
      answered(
        200,
        pushBody(token, {
          expire_after_views: 1,
          views_remaining: 0,
          expired: true,
          expired_on: '2026-08-20T11:06:45.000Z',
          passphrase: null,
          payload: null,
          files: [],
        }),
      ),
    );
  });

  test('the passphrase goes as a query parameter', async () => {
    const token = await created('{"push":{"payload":"hunter2","passphrase":"open sesame & more"}}');
    expect(await send('GET', `/api/v2/pushes/${token}`)).toEqual(
      answered(401, {
        error: 'This push requires a passphrase.',
        message: 'A passphrase is required: send it as the `passphrase` parameter.',
        status: 'unauthorized',
      }),
    );
    expect(await send('GET', `/api/v2/pushes/${token}?passphrase=sesame`)).toEqual(
      answered(401, {
        error: 'This push requires a passphrase.',
        message: 'That passphrase is wrong: send the right one as the `passphrase` parameter.',
        status: 'unauthorized',
      }),
    );
    const right = await send('GET', `/api/v2/pushes/${token}?passphrase=open%20sesame+%26+more`);
    expect([right.status, right.body.payload, right.body.passphrase]).toEqual([
      200,
      'hunter2',
      null,
    ]);
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
    expect(await send('GET', path)).toEqual(
      answered(401, {
        error: 'This push requires a passphrase.',
        message: 'A passphrase is required: send it as the `passphrase` parameter.',
        status: 'unauthorized',
      }),
    );
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
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ]);
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
    expect(await send('GET', `/api/v2/pushes/${token}/audit`, asAdmin())).toEqual(
      answered(200, {
        logs: [
          {
            ip: '127.0.0.1',
            user_agent: '',
            referrer: '',
            kind: 'creation',
            created_at: '2026-08-20T11:06:45.000Z',
            updated_at: '2026-08-20T11:06:45.000Z',
          },
          {
            ip: '127.0.0.1',
            user_agent: 'curl/8',
            referrer: 'https://chat.example/',
            kind: 'view',
            created_at: '2026-08-20T11:06:46.500Z',
            updated_at: '2026-08-20T11:06:46.500Z',
          },
          {
            ip: '127.0.0.1',
            user_agent: '',
            referrer: '',
            kind: 'owner_view',
            created_at: '2026-08-20T11:06:46.500Z',
            updated_at: '2026-08-20T11:06:46.500Z',
          },
        ],
      }),
    );
  });

  test('is refused without a token, to others, and past page 200', async () => {
    const token = await created('{"push":{"payload":"x"}}', asAdmin());
    const path = `/api/v2/pushes/${token}/audit`;
    expect(await send('GET', path)).toEqual(noToken);
    expect(await send('GET', path, asBob())).toEqual(
      answered(403, { error: 'That push is not yours.' }),
    );
    expect(await send('GET', `${path}?page=200`, asAdmin())).toEqual(answered(200, { logs: [] }));
    expect(await send('GET', `${path}?page=201`, asAdmin())).toEqual(
      answered(400, { error: 'page must be an integer from 1 to 200.' }),
    );
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
    const refused = answered(403, { error: 'That push is not deletable by viewers.' });
    expect(await send('DELETE', `/api/v2/pushes/${token}`)).toEqual(refused);
    expect(await send('DELETE', `/api/v2/pushes/${token}`, asBob())).toEqual(refused);
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
    expect(await send('GET', `/api/v2/pushes/active?page=${page}`, asAdmin())).toEqual(
      answered(400, { error: 'page must be an integer from 1 to 200.' }),
    );
  });

  test.each(['active', 'expired'])('%s needs a token', async (list) => {
    expect(await send('GET', `/api/v2/pushes/${list}`)).toEqual(noToken);
  });
});

test('POST /api/v2/pushes/:token/notify_emails is answered 404: there is no mail', async () => {
  const token = await created('{"push":{"payload":"x"}}', asAdmin());
  const body = '{"notify_emails_to":"a@example.com","notify_emails_to_locale":"en"}';
  const path = `/api/v2/pushes/${token}/notify_emails`;
  expect(await send('POST', path, { ...asJson, ...asAdmin() }, body)).toEqual(
    answered(404, { error: 'This instance sends no e-mail.' }),
  );
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
  expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
    429,
    '40',
    { error: 'Too many passphrase attempts. Try again later.' },
  ]);
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
    expect(await send(method, path)).toEqual(noToken);
    expect((await send(method, path, asBob())).status).not.toBe(401);
  }
  const version = await send('GET', '/api/v2/version');
  expect([version.status, version.body.features.anonymous_access]).toEqual([200, false]);
});

import { beforeEach, describe, expect, test } from 'vitest';
import { PASSPHRASE_COST } from '../../src/server/keys/primitives';
import { collectGarbage } from '../helpers/memory';
import {
  at,
  BOUNDARY,
  type Call,
  FORM_TYPE,
  filePart,
  formBytes,
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
const jsonOf = (push: object) => JSON.stringify({ push });
const payloadOf = async (token: string) => (await service.retrieve(token)).json.payload;

/** Of a refusal: its status, and the names of the fields that are told as wrong, or `error`. */
const refused = async (...how: Parameters<typeof post>) => {
  const { status, json } = await post(...how);
  return [status, ...Object.keys(json)];
};

describe('bodies', () => {
  test('JSON with a charset is JSON', async () => {
    const response = await post('{"push":{"payload":"x"}}', 'Application/JSON; charset=utf-8');
    expect(response.status).toBe(201);
  });

  test.each(['text/plain', ''])('%j is refused', async (type) => {
    expect(await refused('{"push":{"payload":"x"}}', type)).toEqual([400, 'error']);
  });

  describe('a form without files', () => {
    const URLENCODED = 'application/x-www-form-urlencoded';

    test.each([
      ['as curl -d sends it', 'push[payload]=hunter2', 'hunter2'],
      ['encoded', 'push%5Bpayload%5D=a%26b+%2B+%C3%BC%0A', 'a&b + ü\n'],
      ['with = in it', 'push[payload]=a=b==', 'a=b=='],
      ['that begins with a byte order mark', 'push[payload]=%EF%BB%BFx', '\ufeffx'],
      ['twice: the last one', 'push[payload]=x&push[payload]=y', 'y'],
      ['among other fields', 'utf8=%E2%9C%93&&push[payload]=x&push[later]=1&payload=z', 'x'],
      ['among values that nobody asked for', 'zz=%&zz=%ff&push[payload]=x', 'x'],
    ])('keeps the payload %s', async (_how, body, payload) => {
      const { status, json } = await post(body, `${URLENCODED}; charset=utf-8`);
      expect([status, await payloadOf(json.url_token)]).toEqual([201, payload]);
    });

    test('has all fields, numbers and flags as text', async () => {
      const body =
        'push[payload]=x&push[expire_after_days]=3&push[expire_after_views]=2&push[retrieval_step]=0' +
        '&push[deletable_by_viewer]=false&push[passphrase]=p&push[name]=n&push[note]=o&push[kind]=qr';
      const { status, json } = await post(body, URLENCODED);
      expect(status).toBe(201);
      expect(json).toMatchObject({
        ...{ expire_after_days: 3, expire_after_views: 2, name: 'n', note: 'o' },
        ...{ retrieval_step: false, deletable_by_viewer: false, passphrase: null },
      });
    });

    test.each<[string, number, string]>([
      ['', 400, 'error'],
      ['payload=x', 400, 'error'],
      ['{"push":{"payload":"x"}}', 400, 'error'],
      ['push[payload]=100%', 400, 'error'],
      ['push[payload]=%ff', 400, 'error'],
      [`push[payload]=x${'&'.repeat(100)}`, 400, 'error'],
      ['push[name]=x', 422, 'payload'],
      ['push[payload][]=x', 422, 'payload'],
      ['push[payload]=x&push[files][]=', 401, 'error'],
      ['push[__proto__][]=x&push[payload]=', 422, 'payload'],
    ])('%j is answered %i', async (body, ...expected) => {
      expect(await refused(body, URLENCODED)).toEqual(expected);
    });

    test('of 1 MiB passes however it is encoded, one over 8 MiB does not', async () => {
      const encoded = `push[payload]=${'%01'.repeat(1024 * 1024)}`;
      expect((await post(encoded, URLENCODED)).status).toBe(201);
      expect((await post(`${encoded}%01`, URLENCODED)).status).toBe(422);
      expect((await post('&'.repeat(8 * 1024 * 1024 + 1), URLENCODED)).status).toBe(413);
    });
  });

  test('what is not UTF-8 is refused', async () => {
    const body = Buffer.from('{"push":{"payload":"\xff"}}', 'latin1');
    expect((await post(body, 'application/json')).status).toBe(400);
  });

  test.each([
    ['1 MiB, however it is escaped', '\u0001'.repeat(1024 * 1024)],
    ['commas and brackets, which are no values', '[{,"\\\\'.repeat(10_000)],
  ])('a payload may have %s', async (_, payload) => {
    expect(await payloadOf(await service.create({ payload }))).toBe(payload);
  });

  test.each([
    ['objects', '{},', 1001],
    ['arrays that go deeper and deeper', '[', 1_000_000],
    ['fields', '"a":1,', 4_000_000 / 6],
  ])(
    'more values than a creation has are refused before they are parsed: %s',
    async (_, value, count) => {
      const body = `{"push":{"payload":"x","more":${value.repeat(count)}`;
      const { status, json } = await post(body, 'application/json');
      // Not as JSON that is cut, which it is too.
      expect([status, json.error.includes(' 1000 ')]).toEqual([400, true]);
    },
  );

  test('nothing of the request is kept while a passphrase waits', async () => {
    service = await opened({ passphraseCost: PASSPHRASE_COST });
    const large = new WeakRef([...Array(10)]);
    const nobody = { ip: null, userAgent: null, referrer: null, owner: undefined };
    let created: Promise<unknown> | undefined;
    (() => {
      const input = { payload: 'x', passphrase: 'p', more: large.deref() };
      created = service.service.pushes.create(input, nobody);
    })();
    let pending = true;
    void created?.then(() => {
      pending = false;
    });
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    expect([pending, large.deref()]).toEqual([true, undefined]);
    await created;
  });

  test('a body without an end is cut off at the limit', async () => {
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
    expect((await post(endless, 'application/json')).status).toBe(413);
    expect([pulled < 12, cancelled]).toEqual([true, true]);
  });

  test('one that says itself that it is too large is not read', async () => {
    const unread = new ReadableStream({ pull: () => Promise.reject(new Error('read')) });
    const length = { 'content-length': '8388609' };
    expect((await post(unread, 'application/json', length)).status).toBe(413);
  });

  test.each([
    ['JSON', 'application/json', '', 9, 7_200_000, (payload: string) => jsonOf({ payload })],
    [
      'the fields of forms',
      FORM_TYPE,
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="push[payload]"\r\n\r\n`,
      33,
      2_000_000,
      (value: string) => formBytes([{ name: 'push[payload]', value }]),
    ],
  ])('too much at once is refused, but for small bodies: %s', async (...row) => {
    const [, type, head, count, bytes, whole] = row;
    const sent = async (length: number) => {
      const { status, headers } = await post(whole('x'.repeat(length)), type);
      return [status, headers.get('retry-after')];
    };
    const ends = new Map<number, () => void>();
    const slow = Array.from({ length: count }, (_, at) => {
      const pieces = [head, ...Array<string>(bytes / 100_000).fill(' '.repeat(100_000))];
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          const piece = pieces.shift();
          if (piece === undefined) ends.set(at, () => controller.close());
          else controller.enqueue(Buffer.from(piece));
        },
      });
      return post(stream, type);
    });
    await expect.poll(() => ends.size).toBe(count);
    expect([await sent(bytes - 100_000), await sent(50_000)]).toEqual([
      [503, '5'],
      [201, null],
    ]);
    for (const end of ends.values()) end();
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual(Array(count).fill(400));
    expect(await sent(1_000_000)).toEqual([201, null]);
  });

  test('a body that breaks off is no failure of ours', async () => {
    const broken = new ReadableStream({
      start: (controller) => controller.error(new Error('gone')),
    });
    expect((await post(broken, 'application/json')).status).toBe(400);
  });

  test('deep nesting and odd keys do no harm', async () => {
    const deep = `{"push":{"payload":${'['.repeat(200_000)}`;
    expect((await post(deep, 'application/json')).status).toBe(400);
    const odd = '{"push":{"__proto__":{"kind":"song"},"constructor":1,"payload":"x"}}';
    expect((await post(odd, 'application/json')).status).toBe(201);
  });
});

test.each([
  ...['..%2factive', '%00', 'a.b', 'x'.repeat(129), "'%20OR%201=1--", '%F0%9F%98%80', '%zz'],
])('no push is called %s', async (token) => {
  const answer = await service.retrieve(token);
  expect([answer.status, answer.json]).toEqual([404, { error: 'not-found' }]);
});

test.each([
  ['PUT', '/api/v2/pushes', 'POST'],
  ['PATCH', '/api/v2/pushes/x', 'GET, DELETE'],
  ['DELETE', '/api/v2/version', 'GET'],
  ['POST', '/api/v2/pushes/x/audit', 'GET'],
])('%s %s is not allowed', async (method, path, allow) => {
  const answer = await service.call(method, path);
  expect([answer.status, answer.json, answer.headers.get('allow')]).toEqual([
    405,
    { error: 'method-not-allowed' },
    allow,
  ]);
});

test('nothing is kept by browsers, proxies or search engines', async () => {
  const { headers, text } = await service.call('GET', '/api/v2/version');
  expect(Object.fromEntries(headers)).toEqual({
    'cache-control': 'no-store',
    'content-length': `${Buffer.byteLength(text)}`,
    'content-type': 'application/json; charset=utf-8',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'x-frame-options': 'DENY',
    'x-robots-tag': 'noindex',
  });
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

test('the log has a line a request, with nothing that opens anything', async () => {
  const token = await service.create(
    { payload: 'hunter2', passphrase: 'sesame' },
    service.adminToken,
  );
  await service.retrieve(`${token}?passphrase=sesame`);
  await service.call('GET', `/p/${token}/r`);
  await service.call('GET', '/some/where?hunter2');
  await service.call('GET', '/api/v2/some/where');
  const sizes = service.lines.map((line) => line.replace(/ \d+B$/, ''));
  expect(sizes).toEqual([
    '2026-08-20T11:06:45.000Z POST /api/v2/pushes 201 0ms',
    '2026-08-20T11:06:45.000Z GET /api/v2/pushes/:token 200 0ms',
    '2026-08-20T11:06:45.000Z GET /p/:token/r 200 0ms',
    '2026-08-20T11:06:45.000Z GET /* 404 0ms',
    '2026-08-20T11:06:45.000Z GET /api/v2/* 404 0ms',
  ]);
  expect(service.lines.every((line) => / [1-9]\d*B$/.test(line))).toBe(true);
});

test('GET and HEAD /up answer while the database does, whatever token comes along', async () => {
  const answered = async (method: string) => {
    const { status, text } = await service.call(method, '/up', { token: 'pwp_dead' });
    return [status, text];
  };
  expect([await answered('GET'), await answered('HEAD')]).toEqual([
    [200, 'up\n'],
    [200, ''],
  ]);
  await service.close();
  expect([await answered('GET'), await answered('HEAD')]).toEqual([
    [503, 'down\n'],
    [503, ''],
  ]);
  expect(service.lines.join('\n')).not.toContain('error');
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../../src/contract/api';
import { pushSchema } from '../../../src/server/rules/new-push';
import { requestSchema, responseSchema } from '../../../src/server/rules/new-request';
import { busy } from '../../../src/server/service-errors';
import type { Database } from '../../../src/server/store/sql';
import { proven } from '../../helpers/age';
import { type Described, type Document, described } from '../../helpers/openapi';
import { failingDatabase, overDatabase } from '../../helpers/over-database';
import {
  type Answer,
  type Call,
  call,
  create,
  createWithFiles,
  filePart,
  type TestService,
  testService,
} from '../../helpers/service';

const BASE = '/api/v2';
const PATH = `${BASE}/openapi.json`;

let service: TestService;
let document: Document;
let api: Described;
const bounds = { days: limits.days, views: limits.views };
/** By their text, as compiling the schemas takes longer than most tests. */
const read = new Map<string, Described>();

async function serving(settings: Parameters<typeof testService>[0] = {}): Promise<void> {
  await service?.close();
  service = await testService(settings);
  const { text, json } = await call(service, 'GET', PATH);
  document = json;
  api = read.get(text) ?? described(document);
  read.set(text, api);
}

beforeEach(() => serving());
afterEach(() => service.close());

describe('the document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate({ ...document });
    expect({ valid, errors, version: validator.version }).toEqual({
      valid: true,
      errors: undefined,
      version: '3.1',
    });
  });

  test('refers to nothing that is not there, and holds nothing that nothing refers to', () => {
    const text = JSON.stringify(document);
    const refs = [...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, to]) => to);
    const there = Object.entries(document.components)
      .filter(([kind]) => kind !== 'securitySchemes')
      .flatMap(([kind, parts]) => Object.keys(parts as object).map((name) => `${kind}/${name}`));
    expect([...new Set(refs)].sort()).toEqual(there.sort());
  });

  test('describes the calls of the specification, and no others', () => {
    expect(Object.keys(api.calls).sort()).toEqual([
      'DELETE /pushes/{token}',
      'DELETE /requests/{token}',
      'GET /pushes/active',
      'GET /pushes/expired',
      'GET /pushes/{token}',
      'GET /pushes/{token}/audit',
      'GET /pushes/{token}/preview',
      ...['active', 'closed', 'open', 'ready'].map((state) => `GET /requests/${state}`),
      'GET /requests/{token}',
      'GET /requests/{token}/audit',
      'GET /requests/{token}/preview',
      'GET /version',
      'PATCH /requests/{token}/respond',
      'POST /pushes',
      'POST /requests',
    ]);
  });

  test('is there for everybody, but for who has a dead token', async () => {
    await serving({ anonymous: false });
    const [open, head, dead, posted] = [
      await call(service, 'GET', PATH),
      await call(service, 'HEAD', PATH),
      await call(service, 'GET', PATH, { token: 'nonsense' }),
      await call(service, 'POST', PATH),
    ];
    expect([open.status, head.status, dead.status, posted.status]).toEqual([200, 200, 401, 405]);
    expect([head.text, head.headers.get('content-length')]).toEqual(['', `${open.bytes.length}`]);
    expect(open.headers.get('cache-control')).toBe('no-store');
    expect(open.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  test('is the file in docs, and its calls have the address of the API', async () => {
    const file = readFileSync(join(import.meta.dirname, '../../../docs/openapi.json'), 'utf8');
    expect(document).toEqual(JSON.parse(file));
    const [server] = document.servers;
    expect(new URL(server?.url ?? '', `https://push.example/secret${PATH}`).href).toBe(
      `https://push.example/secret${BASE}`,
    );
  });

  test.each([
    ['NewPush', pushSchema(bounds, false)],
    ['NewRequest', requestSchema(bounds)],
    ['NewAnswer', responseSchema],
  ])('%s has the fields that the service reads', (name, { entries }) => {
    const { properties, required } = document.components.schemas[name];
    const refused = ['files', 'notify_emails_to'];
    const read = Object.keys(entries).filter((field) => !refused.includes(field));
    const inTheSameCall = name === 'NewAnswer' ? ['passphrase'] : [];
    expect(Object.keys(properties).sort()).toEqual([...read, ...inTheSameCall].sort());
    expect(required).toHaveLength(1);
  });
});

/** A documented call of that name, on a push of that token. */
function ask(
  name: string,
  token: string,
  how: Call = {},
  on: Parameters<typeof call>[0] = service,
) {
  const [method = '', path = ''] = name.split(' ');
  return call(on, method, BASE + path.replace('{token}', token), how);
}

const asAdmin = () => ({ token: service.adminToken });
const body = (push: object) => ({ body: { push } });

/** How each documented answer comes about; every call has those of `everyCall` besides. */
const examples: Record<string, Record<number, () => Promise<Answer>>> = {
  'GET /version': { 200: () => ask('GET /version', '', { token: 'nonsense' }) },
  'POST /pushes': {
    201: () => ask('POST /pushes', '', body({ payload: 'x', name: 'n', note: 'm' })),
    400: () => ask('POST /pushes', '', { body: {} }),
    403: () =>
      ask('POST /pushes', '', {
        ...body({ payload: 'x' }),
        headers: { 'sec-fetch-site': 'cross-site' },
      }),
    413: () => ask('POST /pushes', '', body({ payload: 'x'.repeat(9_000_000) })),
    422: () =>
      ask('POST /pushes', '', {
        ...body({ kind: 'song', expire_after_days: 0, expire_after_views: 'x', note: 5 }),
        ...asAdmin(),
      }),
  },
  'GET /pushes/active': {
    200: async () => {
      await create(service, { payload: 'x', name: 'n', note: 'm' }, service.adminToken);
      await createWithFiles(service, filePart('a', 'A'));
      const answer = await ask('GET /pushes/active', '', asAdmin());
      expect(answer.json).toHaveLength(2);
      return answer;
    },
    400: () => page('GET /pushes/active', 'x'),
  },
  'GET /pushes/expired': {
    200: async () => {
      const token = await create(service, { payload: 'x' }, service.adminToken);
      await ask('DELETE /pushes/{token}', token);
      const answer = await ask('GET /pushes/expired', '', asAdmin());
      expect(answer.json).toHaveLength(1);
      return answer;
    },
    400: () => page('GET /pushes/expired', 'x'),
  },
  'GET /pushes/{token}': {
    200: async () => {
      const token = await createWithFiles(service, filePart('a', 'A'));
      const answer = await ask('GET /pushes/{token}', token);
      expect(answer.json.files).toHaveLength(1);
      return answer;
    },
    400: async () => {
      const token = await create(service, { payload: 'x' });
      return ask('GET /pushes/{token}', token, { headers: { 'sec-purpose': 'prefetch' } });
    },
    403: async () => {
      const { proof, payload } = await proven('x');
      const fields = { payload, key_proof: proof, key_salt: proof };
      return ask('GET /pushes/{token}', await create(service, fields));
    },
    404: () => ask('GET /pushes/{token}', 'unknown'),
    422: async () => reused('GET /pushes/{token}', await create(service, { payload: 'x' })),
  },
  'GET /pushes/{token}/preview': {
    200: async () => ask('GET /pushes/{token}/preview', await create(service, { payload: 'x' })),
    404: () => ask('GET /pushes/{token}/preview', 'unknown'),
  },
  'GET /pushes/{token}/audit': {
    200: async () => {
      const token = await create(service, { payload: 'x' }, service.adminToken);
      await ask('GET /pushes/{token}', token, { headers: { 'user-agent': 'curl' } });
      return ask('GET /pushes/{token}/audit', token, asAdmin());
    },
    400: () => page('GET /pushes/{token}/audit', 'x'),
    403: async () => {
      const token = await create(service, { payload: 'x' }, service.otherToken);
      return ask('GET /pushes/{token}/audit', token, asAdmin());
    },
    404: () => ask('GET /pushes/{token}/audit', 'unknown', asAdmin()),
  },
  'DELETE /pushes/{token}': {
    200: async () => ask('DELETE /pushes/{token}', await create(service, { payload: 'x' })),
    403: async () => {
      const push = { payload: 'x', deletable_by_viewer: false };
      return ask('DELETE /pushes/{token}', await create(service, push));
    },
    404: () => ask('DELETE /pushes/{token}', 'unknown'),
  },
};

const asks = (request: object) => ({ body: { request }, ...asAdmin() });

async function requested(fields: object = {}): Promise<string> {
  const answer = await ask('POST /requests', '', asks({ request: 'x', note: 'm', ...fields }));
  return answer.json.url_token;
}

const respond = (token: string, fields: object = { response: 'x' }, how: Call = {}) =>
  ask('PATCH /requests/{token}/respond', token, { body: { request: fields }, ...how });

/** Of a listing of requests, with one in it. */
const requestList = (state: string, make: () => Promise<unknown>) => ({
  200: async () => {
    await make();
    const answer = await ask(`GET /requests/${state}`, '', asAdmin());
    expect(answer.json).toHaveLength(1);
    return answer;
  },
  400: () => page(`GET /requests/${state}`, 'x'),
});

const close = async () => ask('DELETE /requests/{token}', await requested(), asAdmin());

Object.assign(examples, {
  'POST /requests': {
    201: () => ask('POST /requests', '', asks({ request: 'x' })),
    400: () => ask('POST /requests', '', { body: { request: 'x' }, ...asAdmin() }),
    403: () =>
      ask('POST /requests', '', {
        ...asks({ request: 'x' }),
        headers: { 'sec-fetch-site': 'cross-site' },
      }),
    413: () => ask('POST /requests', '', asks({ request: 'x'.repeat(9_000_000) })),
    422: () =>
      ask(
        'POST /requests',
        '',
        asks({ request: '', close_after_duration: 18, close_after: 0, public_key: 'age1x' }),
      ),
  },
  'GET /requests/open': requestList('open', requested),
  'GET /requests/active': requestList('active', requested),
  'GET /requests/ready': requestList('ready', async () => respond(await requested())),
  'GET /requests/closed': requestList('closed', close),
  'GET /requests/{token}': {
    200: async () => {
      const token = await requested({ include_requestor: true });
      await respond(token);
      const answer = await ask('GET /requests/{token}', token, asAdmin());
      expect(answer.json).toMatchObject({ response: 'x', requestor: 'admin' });
      return answer;
    },
    400: async () => {
      const headers = { 'sec-purpose': 'prefetch' };
      return ask('GET /requests/{token}', await requested(), { headers });
    },
    404: () => ask('GET /requests/{token}', 'unknown'),
    422: async () => {
      const token = await requested();
      await respond(token);
      return reused('GET /requests/{token}', token, asAdmin());
    },
  },
  'GET /requests/{token}/preview': {
    200: async () => ask('GET /requests/{token}/preview', await requested()),
    404: () => ask('GET /requests/{token}/preview', 'unknown'),
  },
  'PATCH /requests/{token}/respond': {
    200: async () => respond(await requested()),
    400: async () => respond(await requested(), {}, { body: {} }),
    403: async () =>
      respond(await requested(), undefined, { headers: { 'sec-fetch-site': 'cross-site' } }),
    404: () => respond('unknown'),
    409: async () => {
      const token = await requested();
      await respond(token);
      return respond(token);
    },
    410: async () => {
      const token = await requested();
      await ask('DELETE /requests/{token}', token, asAdmin());
      return respond(token);
    },
    413: async () => respond(await requested(), { response: 'x'.repeat(9_000_000) }),
    422: async () => respond(await requested(), { response: ' ' }),
  },
  'GET /requests/{token}/audit': {
    200: async () => ask('GET /requests/{token}/audit', await requested(), asAdmin()),
    400: () => page('GET /requests/{token}/audit', 'x'),
    403: async () =>
      ask('GET /requests/{token}/audit', await requested(), { token: service.otherToken }),
    404: () => ask('GET /requests/{token}/audit', 'unknown', asAdmin()),
  },
  'DELETE /requests/{token}': {
    200: close,
    403: async () =>
      ask('DELETE /requests/{token}', await requested(), { token: service.otherToken }),
    404: () => ask('DELETE /requests/{token}', 'unknown', asAdmin()),
  },
});

/** More ways to the same status. */
const variants: [string, number, () => Promise<Answer>][] = [
  [
    'POST /requests',
    201,
    () => {
      const file = { ...filePart('a', 'A'), name: 'request[files][]' };
      const form = [{ name: 'request[request]', value: 'x' }, file];
      return call(service, 'POST', `${BASE}/requests`, { form, ...asAdmin() });
    },
  ],
  [
    'GET /requests/{token}',
    401,
    async () => ask('GET /requests/{token}', await requested({ passphrase: 'p' })),
  ],
  [
    'PATCH /requests/{token}/respond',
    401,
    async () => respond(await requested({ passphrase: 'p' })),
  ],
  [
    'GET /requests/{token}',
    200,
    async () => ask('GET /requests/{token}', (await close()).json.url_token),
  ],
  [
    'POST /pushes',
    201,
    () => call(service, 'POST', `${BASE}/pushes`, { form: [filePart('a', 'A')], ...asAdmin() }),
  ],
  [
    'POST /pushes',
    201,
    () => ask('POST /pushes', '', body({ payload: 'http://a.b', kind: 'url' })),
  ],
  ['POST /pushes', 201, () => ask('POST /pushes', '', body({ payload: 'x', passphrase: 'p' }))],
  [
    'POST /pushes',
    401,
    () => call(service, 'POST', `${BASE}/pushes`, { form: [filePart('a', 'A')] }),
  ],
  ['POST /pushes', 401, () => ask('POST /pushes', '', body({ kind: 'file' }))],
  ['POST /pushes', 422, () => ask('POST /pushes', '', { ...body({ kind: 'file' }), ...asAdmin() })],
  ['POST /pushes', 422, () => ask('POST /pushes', '', body({ notify_emails_to: 'a@b.test' }))],
  [
    'GET /pushes/{token}',
    200,
    async () => {
      const token = await create(service, { payload: 'x', expire_after_views: 1 });
      expect((await ask('GET /pushes/{token}', token)).json.payload).toBe('x');
      return ask('GET /pushes/{token}', token);
    },
  ],
  ['GET /pushes/{token}', 401, async () => tried(['wrong'])],
  ['GET /pushes/{token}', 401, async () => tried([''])],
  ['GET /pushes/{token}', 429, async () => tried(Array(6).fill('wrong'))],
];

async function page(name: string, number: string): Promise<Answer> {
  const token = await create(service, { payload: 'x' }, service.adminToken);
  const [method = '', path = ''] = name.split(' ');
  return call(
    service,
    method,
    `${BASE}${path.replace('{token}', token)}?page=${number}`,
    asAdmin(),
  );
}

async function tried(passphrases: readonly string[]): Promise<Answer> {
  const token = await create(service, { payload: 'x', passphrase: 'p' });
  let answer: Answer | undefined;
  for (const passphrase of passphrases)
    answer = await call(service, 'GET', `${BASE}/pushes/${token}?passphrase=${passphrase}`);
  return answer as Answer;
}

/** What any call is answered by a service whose database fails with that error. */
async function failing(name: string, error: Error): Promise<Answer> {
  const database: Database = await failingDatabase(error);
  const answer = await ask(name, 'unknown', { token: 'x' }, overDatabase(database));
  await database.close();
  return answer;
}

/** With a key that another call was done with. */
async function reused(name: string, token: string, how: Call = {}): Promise<Answer> {
  const headers = { 'idempotency-key': '"0123456789abcdef"' };
  await ask('POST /pushes', '', { body: { push: { payload: 'x' } }, headers });
  return ask(name, token, { ...how, headers });
}

const everyCall: Record<number, (name: string) => Promise<Answer>> = {
  401: (name) => ask(name, 'unknown', { token: 'nonsense' }),
  429: async (name) => {
    await serving({ rateLimit: { requests: 2, milliseconds: 60_000 } });
    await ask(name, 'unknown');
    return ask(name, 'unknown');
  },
  500: (name) => failing(name, new Error('SELECT * FROM secrets')),
  503: (name) => failing(name, busy('The database is in use by another program.')),
};

/** Version looks at no token and asks no database. */
const commonOf = (name: string) =>
  Object.entries(everyCall).filter(([status]) => name !== 'GET /version' || status === '429');

test('every documented status has an example here', () => {
  const documented = Object.entries(api.calls).map(([name, { responses }]) => [
    name,
    Object.keys(responses),
  ]);
  const shown = Object.entries(examples).map(([name, statuses]) => [
    name,
    [...Object.keys(statuses), ...commonOf(name).map(([status]) => status)].sort(),
  ]);
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(shown));
});

const all = Object.entries(examples).flatMap(([name, statuses]) => [
  ...Object.entries(statuses).map(([status, example]) => ({ name, status, example })),
  ...commonOf(name).map(([status, of]) => ({
    name,
    status,
    example: () => of(name),
  })),
  ...variants
    .filter(([one]) => one === name)
    .map(([, status, example]) => ({ name, status: `${status}`, example })),
]);

test.each(all)('$name is answered $status as described', async ({ name, status, example }) => {
  const answer = await example();
  expect(`${answer.status}`).toBe(status);
  expect(api.faults(name, answer)).toEqual([]);
});

test('an answer with a field, a header or a status that is not described is found', async () => {
  const answer = await ask('GET /version', '');
  const faults = (more: Partial<Answer>) =>
    api.faults('GET /version', { ...answer, ...more }).length;
  expect(faults({})).toBe(0);
  expect(faults({ status: 204 })).toBe(1);
  expect(faults({ json: { ...answer.json, more: 1 } })).toBe(1);
  expect(faults({ json: { ...answer.json, edition: undefined } })).toBe(1);
  expect(faults({ headers: new Headers([...answer.headers, ['x-more', '1']]) })).toBe(1);
});

describe('a creation', () => {
  const long = (length: number) => 'x'.repeat(length);

  const creations: [object, boolean][] = [
    [{ payload: 'x' }, true],
    [{}, false],
    [{ payload: '' }, false],
    [{ payload: 5 }, false],
    [{ payload: long(1_048_576) }, true],
    [{ payload: long(1_048_577) }, false],
    [{ payload: 'x', kind: 'qr' }, true],
    [{ payload: 'x', kind: 'file' }, false],
    [{ payload: 'x', kind: 'song' }, false],
    [{ payload: 'x', expire_after_days: 0 }, false],
    [{ payload: 'x', expire_after_days: 1 }, true],
    [{ payload: 'x', expire_after_days: 90 }, true],
    [{ payload: 'x', expire_after_days: 91 }, false],
    [{ payload: 'x', expire_after_days: 1.5 }, false],
    [{ payload: 'x', expire_after_duration: 0 }, true],
    [{ payload: 'x', expire_after_duration: 18 }, false],
    [{ payload: 'x', expires_in: 60 }, true],
    [{ payload: 'x', expires_in: 59 }, false],
    [{ payload: 'x', expire_after_views: 0 }, false],
    [{ payload: 'x', expire_after_views: 100 }, true],
    [{ payload: 'x', expire_after_views: 101 }, false],
    [{ payload: 'x', deletable_by_viewer: false, retrieval_step: false }, true],
    [{ payload: 'x', deletable_by_viewer: 1 }, false],
    [{ payload: 'x', passphrase: long(1025) }, false],
    [{ payload: 'x', name: '🔑'.repeat(255) }, true],
    [{ payload: 'x', name: long(256) }, false],
    [{ payload: 'x', note: long(10_000) }, true],
    [{ payload: 'x', note: long(10_001) }, false],
  ];
  // A title is told whole: of a text of a mebibyte, too.
  const titled = creations.map((one) => [JSON.stringify(one[0]).slice(0, 60), ...one] as const);

  test.each(titled)('is taken as described: %s', async (_, push, taken) => {
    expect(api.schemaFaults('NewPush', push).length === 0).toBe(taken);
    const { status } = await ask('POST /pushes', '', { ...body(push), ...asAdmin() });
    expect(status).toBe(taken ? 201 : 422);
  });

  test('gets the defaults that are described', async () => {
    const { json } = await ask('POST /pushes', '', { body: { push: { payload: 'x' } } });
    const { payload, kind, passphrase, ...fields } = document.components.schemas.NewPush.properties;
    expect([kind.default, passphrase.default]).toEqual(['text', '']);
    for (const [name, { default: value }] of Object.entries<{ default: unknown }>(fields))
      expect([name, json[name]]).toEqual([name, value]);
  });
});

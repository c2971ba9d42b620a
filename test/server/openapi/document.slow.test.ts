import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../../src/contract/api';
import { pushSchema } from '../../../src/server/rules/new-push';
import { requestSchema, responseSchema } from '../../../src/server/rules/new-request';
import { busy } from '../../../src/server/service-errors';
import { documentFile, published } from '../../helpers/openapi';
import { failingDatabase, overDatabase } from '../../helpers/over-database';
import { type Answer, askedOf, type Call, opened, type TestService } from '../../helpers/service';

// That answers are as described is looked at wherever a test asks a service: test/helpers/service.ts.

const BASE = '/api/v2';
const PATH = `${BASE}/openapi.json`;

const bounds = { days: limits.days, views: limits.views };
const document = documentFile();
const api = published();
let service: TestService;

beforeEach(async () => {
  service = await opened();
});

describe('the document', () => {
  test('is valid OpenAPI 3.1, with the address of the API', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate({ ...document });
    expect([valid, errors, validator.version]).toEqual([true, undefined, '3.1']);
    const at = 'https://push.example/secret';
    expect(new URL(document.servers[0]?.url ?? '', at + PATH).href).toBe(at + BASE);
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
      ...['DELETE /pushes/{token}', 'DELETE /requests/{token}', 'GET /pushes/active'],
      ...['expired', '{token}', '{token}/audit', '{token}/preview'].map(
        (at) => `GET /pushes/${at}`,
      ),
      ...['active', 'closed', 'open', 'ready'].map((state) => `GET /requests/${state}`),
      ...['{token}', '{token}/audit', '{token}/preview'].map((at) => `GET /requests/${at}`),
      ...['GET /version', 'PATCH /requests/{token}/respond', 'POST /pushes', 'POST /requests'],
    ]);
  });

  test('is there for everybody, but for who has a dead token', async () => {
    service = await opened({ anonymous: false });
    const { status, bytes, headers, json } = await service.call('GET', PATH);
    const head = await service.call('HEAD', PATH);
    const dead = await service.call('GET', PATH, { token: 'nonsense' });
    const posted = await service.call('POST', PATH);
    expect([status, head.status, dead.status, posted.status]).toEqual([200, 200, 401, 405]);
    expect([head.text, head.headers.get('content-length')]).toEqual(['', `${bytes.length}`]);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(json).toEqual(document);
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

const long = 'x'.repeat(9_000_000);

/** A documented call, on the push or request of that token. */
function ask(
  name: string,
  token = 'unknown',
  how: Call = {},
  on: Pick<TestService, 'call'> = service,
) {
  const [method = '', path = ''] = name.split(' ');
  return on.call(method, BASE + path.replace('{token}', token), how);
}

const push = (fields: object = {}) => ({ body: { push: { payload: 'x', ...fields } } });
const request = (fields: object = {}) => ({
  ...{ body: { request: { request: 'x', ...fields } }, ...service.asAdmin },
});
const everyCall = Object.keys(api.calls);
// Version looks at no token and asks no database.
const others = everyCall.filter((name) => name !== 'GET /version');
const withToken = everyCall.filter((name) => name.includes('{token}'));
const withPages = others.filter((name) =>
  /audit$|active$|expired$|open$|ready$|closed$/.test(name),
);
const foreign = { headers: { 'sec-fetch-site': 'cross-site' } };
const prefetch = { headers: { 'sec-purpose': 'prefetch' } };

type Row = [name: string, status: number, answer: () => Promise<Answer>];
const rows = (names: string[], status: number, answer: (name: string) => Promise<Answer>) =>
  names.map((name): Row => [name, status, () => answer(name)]);
/** Of a call about a request that was just made. */
const made = async (name: string, how: Call = {}) => ask(name, await service.createRequest(), how);

const READ = 'GET /requests/{token}';
const RESPOND = 'PATCH /requests/{token}/respond';
const AUDIT = 'GET /pushes/{token}/audit';

// Those that no test of a rule is about.
test.each<Row>([
  ...rows(others, 401, (name) => ask(name, 'x', { token: 'nonsense' })),
  ...rows(others, 503, async (name) => {
    const database = await failingDatabase(busy('In use.'));
    const on = askedOf({ ...overDatabase(database), adminToken: 'x' });
    const answer = await ask(name, 'unknown', on.asAdmin, on);
    await database.close();
    return answer;
  }),
  ...rows(everyCall, 429, async (name) => {
    service = await opened({ rateLimit: { requests: 1, milliseconds: 60_000 } });
    await service.call('GET', BASE);
    return ask(name);
  }),
  ...rows(withToken, 404, (name) => {
    const body = { request: { response: 'x' } };
    return ask(name, 'unknown', name.startsWith('PATCH') ? { body } : service.asAdmin);
  }),
  ...rows(withPages, 400, async (name) => {
    const { createOwn, createRequest } = service;
    const token = await (name.includes('/pushes') ? createOwn() : createRequest());
    return ask(`${name}?page=x`, token, service.asAdmin);
  }),
  ['POST /requests', 400, () => ask('POST /requests', '', { ...request(), body: {} })],
  ['POST /requests', 403, () => ask('POST /requests', '', { ...request(), ...foreign })],
  ['POST /requests', 413, () => ask('POST /requests', '', request({ request: long }))],
  [READ, 400, () => made(READ, prefetch)],
  [
    READ,
    422,
    async () => {
      const headers = { 'idempotency-key': '"0123456789abcdef"' };
      const { json } = await ask('POST /requests', '', { ...request(), headers });
      await service.respond(json.url_token, 'x');
      return ask(READ, json.url_token, { ...service.asAdmin, headers });
    },
  ],
  ['GET /requests/{token}/preview', 200, () => made('GET /requests/{token}/preview')],
  [RESPOND, 403, () => made(RESPOND, foreign)],
  [AUDIT, 403, async () => ask(AUDIT, await service.createOwn(), service.asOther)],
])('%s is answered %i', async (_, status, answer) => {
  expect((await answer()).status).toBe(status);
});

test('an answer with a field, a header or a status that is not described is found', async () => {
  const found = await ask('GET /version');
  const faults = (more: Partial<Answer>) =>
    api.faults('GET /version', { ...found, ...more }).length;
  expect(faults({})).toBe(0);
  expect(faults({ status: 204 })).toBe(1);
  expect(faults({ json: { ...found.json, more: 1 } })).toBe(1);
  expect(faults({ json: { ...found.json, edition: undefined } })).toBe(1);
  expect(faults({ headers: new Headers([...found.headers, ['x-more', '1']]) })).toBe(1);
});

interface Field {
  readonly type: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly default?: unknown;
}

/** Of a field as it is described: the last values that are taken, and the first that are not. */
function limitsOf({ type, minimum = 0, maximum, maxLength }: Field): [unknown[], unknown[]] {
  const text = 'x'.repeat(maxLength ?? 0);
  if (type === 'boolean') return [[false], [1]];
  if (maxLength !== undefined) return [[text], [`${text}x`, 5]];
  if (maximum === undefined) return [[], []];
  return [
    [minimum, maximum],
    [minimum - 1, maximum + 1, 1.5],
  ];
}

describe.each([
  ['NewPush', 'POST /pushes', push],
  ['NewRequest', 'POST /requests', request],
])('%s', (schema, call, bodyOf) => {
  const fields: [string, Field][] = Object.entries(document.components.schemas[schema].properties);
  const limits = fields.flatMap(([name, field]) => {
    const [taken, refused] = limitsOf(field);
    const row = (is: boolean) => (value: unknown) => [name, value, is] as const;
    return [...taken.map(row(true)), ...refused.map(row(false))];
  });

  test.each<readonly [string, unknown, boolean]>([
    ...limits,
    ['name', '🔑'.repeat(255), true],
    ...(schema === 'NewPush'
      ? ([
          ['payload', '', false],
          ['kind', 'qr', true],
          ['kind', 'file', false],
          ['kind', 'song', false],
        ] as const)
      : []),
  ])('%s is taken as described (%#)', async (name, value, taken) => {
    const how = { ...bodyOf({ [name]: value }), ...service.asAdmin };
    const [given] = Object.values(how.body);
    expect(api.schemaFaults(schema, given).length === 0).toBe(taken);
    expect((await ask(call, '', how)).status).toBe(taken ? 201 : 422);
  });

  test('gets the defaults that are described', async () => {
    const { json } = await ask(call, '', { ...bodyOf(), ...service.asAdmin });
    for (const [name, { default: value }] of fields)
      if (value !== undefined && name in json) expect([name, json[name]]).toEqual([name, value]);
  });
});

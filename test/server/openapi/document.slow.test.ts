import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../../src/contract/api';
import { pushSchema } from '../../../src/server/pushes/new-push';
import { requestSchema, responseSchema } from '../../../src/server/requests/new-request';
import { busy, full, type ServiceRefusal } from '../../../src/server/service-errors';
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

  test('describes the calls of the specification, and no others', () => {
    expect(Object.keys(api.calls).sort()).toEqual([
      ...['DELETE /pushes/{token}', 'DELETE /requests/{token}', 'GET /pushes/active'],
      ...['expired', '{token}', '{token}/audit', '{token}/preview'].map((at) => `GET /pushes/${at}`),
      ...['active', 'closed', 'open', 'ready'].map((state) => `GET /requests/${state}`),
      ...['{token}', '{token}/audit', '{token}/preview'].map((at) => `GET /requests/${at}`),
      ...['GET /version', 'PATCH /requests/{token}/respond', 'POST /pushes', 'POST /requests'],
      'POST /token',
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
    expect(headers.get('cache-control')).toBe('no-store, no-transform');
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

function ask(name: string, token = 'unknown', how: Call = {}, on: Pick<TestService, 'call'> = service) {
  const [method = '', path = ''] = name.split(' ');
  return on.call(method, BASE + path.replace('{token}', token), how);
}

const everyCall = Object.keys(api.calls);
// Version looks at no token and asks no database.
const others = everyCall.filter((name) => name !== 'GET /version');
const withToken = everyCall.filter((name) => name.includes('{token}'));
const withPages = others.filter((name) => /audit$|active$|expired$|open$|ready$|closed$/.test(name));
const storing = Object.entries(api.calls).flatMap(([name, call]) => ('507' in call.responses ? name : []));
const foreign = { headers: { 'sec-fetch-site': 'cross-site' } };

async function askFailing(name: string, refusal: ServiceRefusal) {
  const database = await failingDatabase(refusal);
  const on = askedOf({ ...overDatabase(database), adminToken: 'x' });
  const answer = await ask(name, 'unknown', on.asAdmin, on);
  await database.close();
  return answer;
}

type Row = [name: string, status: number, answer: () => Promise<Answer>];
const rows = (names: string[], status: number, answer: (name: string) => Promise<Answer>) =>
  names.map((name): Row => [name, status, () => answer(name)]);
const RESPOND = 'PATCH /requests/{token}/respond';

// Those that no test of a rule is about.
test.each<Row>([
  ...rows(others, 401, (name) => ask(name, 'x', { token: 'nonsense' })),
  ...rows(others, 503, (name) => askFailing(name, busy('In use.'))),
  ...rows(storing, 507, (name) => askFailing(name, full())),
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
  [RESPOND, 403, async () => ask(RESPOND, await service.createRequest(), foreign)],
])('%s is answered %i', async (_, status, answer) => {
  expect((await answer()).status).toBe(status);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../../src/contract/api';
import { pushSchema } from '../../../src/server/rules/new-push';
import { requestSchema, responseSchema } from '../../../src/server/rules/new-request';
import { busy } from '../../../src/server/service-errors';
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
  opened,
  type TestOptions,
  type TestService,
} from '../../helpers/service';

const BASE = '/api/v2';
const PATH = `${BASE}/openapi.json`;

let service: TestService;
let document: Document;
let api: Described;
const bounds = { days: limits.days, views: limits.views };
/** By their text, as compiling the schemas takes longer than most tests. */
const known = new Map<string, Described>();

async function serving(settings: TestOptions = {}): Promise<void> {
  service = await opened(settings);
  const { text, json } = await call(service, 'GET', PATH);
  document = json;
  api = known.get(text) ?? described(document);
  known.set(text, api);
}

beforeEach(() => serving());

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
    await serving({ anonymous: false });
    const { status, bytes, headers } = await call(service, 'GET', PATH);
    const head = await call(service, 'HEAD', PATH);
    const dead = await call(service, 'GET', PATH, { token: 'nonsense' });
    const posted = await call(service, 'POST', PATH);
    expect([status, head.status, dead.status, posted.status]).toEqual([200, 200, 401, 405]);
    expect([head.text, head.headers.get('content-length')]).toEqual(['', `${bytes.length}`]);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
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

/** A documented call, on the push or request of that token. */
type Ask = (token?: string, how?: Call, query?: string) => Promise<Answer>;
const asking =
  (name: string, on: Parameters<typeof call>[0] = service): Ask =>
  (token = '', how = {}, query = '') => {
    const [method = '', path = ''] = name.split(' ');
    return call(on, method, BASE + path.replace('{token}', token) + query, how);
  };

/** How an answer comes about. */
type Example = (ask: Ask) => Promise<Answer>;

const push = (fields: object = {}) => ({ body: { push: { payload: 'x', ...fields } } });
const asks = (fields: object = {}) => ({
  ...{ body: { request: { request: 'x', ...fields } }, ...service.asAdmin },
});
const answer = (fields: object = { response: 'x' }) => ({ body: { request: fields } });
const pushed = (fields: object = {}, token?: string) =>
  create(service, { payload: 'x', ...fields }, token);
const requested = async (fields: object = {}): Promise<string> =>
  (await asking('POST /requests')('', asks({ note: 'm', ...fields }))).json.url_token;
const respond = (token: string, fields?: object) =>
  asking('PATCH /requests/{token}/respond')(token, answer(fields));
const closed = async () => {
  const token = await requested();
  await asking('DELETE /requests/{token}')(token, service.asAdmin);
  return token;
};
const answered = async (fields: object = {}) => {
  const token = await requested(fields);
  await respond(token);
  return token;
};
const readWithFile = () => createWithFiles(service, filePart('a', 'A'));

const foreign = { headers: { 'sec-fetch-site': 'cross-site' } };
const prefetch = { headers: { 'sec-purpose': 'prefetch' } };
const long = 'x'.repeat(9_000_000);

const unknown: Example = (ask) => ask('unknown', service.asAdmin);
const wrongPage: Example = async (ask) =>
  ask(await pushed({}, service.adminToken), service.asAdmin, '?page=x');
/** Of a listing, with so many in it. */
const listing = (length: number, make: () => Promise<unknown>): [number, Example][] => [
  [
    200,
    async (ask) => {
      await make();
      const found = await ask('', service.asAdmin);
      expect(found.json).toHaveLength(length);
      return found;
    },
  ],
  [400, wrongPage],
];
/** With a key that another call was done with. */
const reused = (make: () => Promise<string>): Example => {
  return async (ask) => {
    const headers = { 'idempotency-key': '"0123456789abcdef"' };
    await asking('POST /pushes')('', { ...push(), headers });
    return ask(await make(), { ...service.asAdmin, headers });
  };
};
/** A retrieval of a push with a passphrase, each of them tried. */
const tried = (...passphrases: string[]): Example => {
  return async (ask) => {
    const token = await pushed({ passphrase: 'p' });
    const answers = [];
    for (const one of passphrases) answers.push(await ask(token, {}, `?passphrase=${one}`));
    return answers.at(-1) as Answer;
  };
};

/** How each documented answer comes about; every call has those of `everyCall` besides. */
const examples: Record<string, [status: number, Example][]> = {
  'GET /version': [[200, (ask) => ask('', { token: 'nonsense' })]],
  'POST /pushes': [
    [201, (ask) => ask('', push({ name: 'n', note: 'm' }))],
    [201, (ask) => ask('', { form: [filePart('a', 'A')], ...service.asAdmin })],
    [201, (ask) => ask('', push({ payload: 'http://a.b', kind: 'url' }))],
    [201, (ask) => ask('', push({ passphrase: 'p' }))],
    [400, (ask) => ask('', { body: {} })],
    [401, (ask) => ask('', { form: [filePart('a', 'A')] })],
    [401, (ask) => ask('', { body: { push: { kind: 'file' } } })],
    [403, (ask) => ask('', { ...push(), ...foreign })],
    [413, (ask) => ask('', push({ payload: long }))],
    [
      422,
      (ask) =>
        ask('', {
          ...push({ kind: 'song', expire_after_days: 0, expire_after_views: 'x', note: 5 }),
          ...service.asAdmin,
        }),
    ],
    [422, (ask) => ask('', { body: { push: { kind: 'file' } }, ...service.asAdmin })],
    [422, (ask) => ask('', { body: { push: { notify_emails_to: 'a@b.test' } } })],
  ],
  'GET /pushes/active': listing(2, async () => {
    await pushed({ name: 'n', note: 'm' }, service.adminToken);
    await readWithFile();
  }),
  'GET /pushes/expired': listing(1, async () =>
    service.expire(await pushed({}, service.adminToken)),
  ),
  'GET /pushes/{token}': [
    [
      200,
      async (ask) => {
        const found = await ask(await readWithFile());
        expect(found.json.files).toHaveLength(1);
        return found;
      },
    ],
    [
      200,
      async (ask) => {
        const token = await pushed({ expire_after_views: 1 });
        expect((await ask(token)).json.payload).toBe('x');
        return ask(token);
      },
    ],
    [400, async (ask) => ask(await pushed(), prefetch)],
    [401, tried('wrong')],
    [401, tried('')],
    [
      403,
      async (ask) => {
        const { proof, payload } = await proven('x');
        return ask(await pushed({ payload, key_proof: proof, key_salt: proof }));
      },
    ],
    [404, (ask) => ask('unknown')],
    [422, reused(() => pushed())],
    [429, tried(...Array(6).fill('wrong'))],
  ],
  'GET /pushes/{token}/preview': [
    [200, async (ask) => ask(await pushed())],
    [404, (ask) => ask('unknown')],
  ],
  'GET /pushes/{token}/audit': [
    [
      200,
      async (ask) => {
        const token = await pushed({}, service.adminToken);
        await service.retrieve(token, { headers: { 'user-agent': 'curl' } });
        return ask(token, service.asAdmin);
      },
    ],
    [400, wrongPage],
    [403, async (ask) => ask(await pushed({}, service.otherToken), service.asAdmin)],
    [404, unknown],
  ],
  'DELETE /pushes/{token}': [
    [200, async (ask) => ask(await pushed())],
    [403, async (ask) => ask(await pushed({ deletable_by_viewer: false }))],
    [404, (ask) => ask('unknown')],
  ],
  'POST /requests': [
    [201, (ask) => ask('', asks())],
    [
      201,
      (ask) => {
        const file = { ...filePart('a', 'A'), name: 'request[files][]' };
        const form = [{ name: 'request[request]', value: 'x' }, file];
        return ask('', { form, ...service.asAdmin });
      },
    ],
    [400, (ask) => ask('', { body: { request: 'x' }, ...service.asAdmin })],
    [403, (ask) => ask('', { ...asks(), ...foreign })],
    [413, (ask) => ask('', asks({ request: long }))],
    [
      422,
      (ask) =>
        ask(
          '',
          asks({ request: '', close_after_duration: 18, close_after: 0, public_key: 'age1x' }),
        ),
    ],
  ],
  'GET /requests/open': listing(1, requested),
  'GET /requests/active': listing(1, requested),
  'GET /requests/ready': listing(1, answered),
  'GET /requests/closed': listing(1, closed),
  'GET /requests/{token}': [
    [
      200,
      async (ask) => {
        const found = await ask(await answered({ include_requestor: true }), service.asAdmin);
        expect(found.json).toMatchObject({ response: 'x', requestor: 'admin' });
        return found;
      },
    ],
    [200, async (ask) => ask(await closed())],
    [400, async (ask) => ask(await requested(), prefetch)],
    [401, async (ask) => ask(await requested({ passphrase: 'p' }))],
    [404, (ask) => ask('unknown')],
    [422, reused(answered)],
  ],
  'GET /requests/{token}/preview': [
    [200, async (ask) => ask(await requested())],
    [404, (ask) => ask('unknown')],
  ],
  'PATCH /requests/{token}/respond': [
    [200, async (ask) => ask(await requested(), answer())],
    [400, async (ask) => ask(await requested(), { body: {} })],
    [401, async (ask) => ask(await requested({ passphrase: 'p' }), answer())],
    [403, async (ask) => ask(await requested(), { ...answer(), ...foreign })],
    [404, (ask) => ask('unknown', answer())],
    [409, async (ask) => ask(await answered(), answer())],
    [410, async (ask) => ask(await closed(), answer())],
    [413, async (ask) => ask(await requested(), answer({ response: long }))],
    [422, async (ask) => ask(await requested(), answer({ response: ' ' }))],
  ],
  'GET /requests/{token}/audit': [
    [200, async (ask) => ask(await requested(), service.asAdmin)],
    [400, wrongPage],
    [403, async (ask) => ask(await requested(), service.asOther)],
    [404, unknown],
  ],
  'DELETE /requests/{token}': [
    [200, async (ask) => ask(await requested(), service.asAdmin)],
    [403, async (ask) => ask(await requested(), service.asOther)],
    [404, unknown],
  ],
};

/** What any call is answered by a service whose database fails with that error. */
async function failing(name: string, error: Error): Promise<Answer> {
  const database = await failingDatabase(error);
  const failed = await asking(name, overDatabase(database))('unknown', { token: 'x' });
  await database.close();
  return failed;
}

const everyCall: Record<number, (name: string) => Promise<Answer>> = {
  401: (name) => asking(name)('unknown', { token: 'nonsense' }),
  429: async (name) => {
    await serving({ rateLimit: { requests: 2, milliseconds: 60_000 } });
    await asking(name)('unknown');
    return asking(name)('unknown');
  },
  500: (name) => failing(name, new Error('SELECT * FROM secrets')),
  503: (name) => failing(name, busy('The database is in use by another program.')),
};

const all = Object.entries(examples).flatMap(([name, own]) => [
  ...own.map(([status, example]) => ({ name, status, example: () => example(asking(name)) })),
  // Version looks at no token and asks no database.
  ...Object.entries(everyCall)
    .filter(([status]) => name !== 'GET /version' || status === '429')
    .map(([status, of]) => ({ name, status: Number(status), example: () => of(name) })),
]);

test('every documented status has an example here', () => {
  const documented = Object.entries(api.calls).flatMap(([name, { responses }]) =>
    Object.keys(responses).map((status) => `${name}: ${status}`),
  );
  const shown = new Set(all.map(({ name, status }) => `${name}: ${status}`));
  expect(documented.sort()).toEqual([...shown].sort());
});

test.each(all)('$name is answered $status as described', async ({ name, status, example }) => {
  const found = await example();
  expect(found.status).toBe(status);
  expect(api.faults(name, found)).toEqual([]);
});

test('an answer with a field, a header or a status that is not described is found', async () => {
  const found = await asking('GET /version')();
  const faults = (more: Partial<Answer>) =>
    api.faults('GET /version', { ...found, ...more }).length;
  expect(faults({})).toBe(0);
  expect(faults({ status: 204 })).toBe(1);
  expect(faults({ json: { ...found.json, more: 1 } })).toBe(1);
  expect(faults({ json: { ...found.json, edition: undefined } })).toBe(1);
  expect(faults({ headers: new Headers([...found.headers, ['x-more', '1']]) })).toBe(1);
});

describe('a creation', () => {
  const long = (length: number) => 'x'.repeat(length);

  const creations: [object, boolean][] = [
    [{}, true],
    [{ payload: undefined }, false],
    [{ payload: '' }, false],
    [{ payload: 5 }, false],
    [{ payload: long(1_048_576) }, true],
    [{ payload: long(1_048_577) }, false],
    [{ kind: 'qr' }, true],
    [{ kind: 'file' }, false],
    [{ kind: 'song' }, false],
    [{ expire_after_days: 0 }, false],
    [{ expire_after_days: 1 }, true],
    [{ expire_after_days: 90 }, true],
    [{ expire_after_days: 91 }, false],
    [{ expire_after_days: 1.5 }, false],
    [{ expire_after_duration: 0 }, true],
    [{ expire_after_duration: 18 }, false],
    [{ expires_in: 60 }, true],
    [{ expires_in: 59 }, false],
    [{ expire_after_views: 0 }, false],
    [{ expire_after_views: 100 }, true],
    [{ expire_after_views: 101 }, false],
    [{ deletable_by_viewer: false, retrieval_step: false }, true],
    [{ deletable_by_viewer: 1 }, false],
    [{ passphrase: long(1025) }, false],
    [{ name: '🔑'.repeat(255) }, true],
    [{ name: long(256) }, false],
    [{ note: long(10_000) }, true],
    [{ note: long(10_001) }, false],
  ];
  // A title is told whole: of a text of a mebibyte, too.
  const titled = creations.map((one) => [JSON.stringify(one[0]).slice(0, 60), ...one] as const);

  test.each(titled)('is taken as described: %s', async (_, fields, taken) => {
    const { body } = push(fields);
    expect(api.schemaFaults('NewPush', JSON.parse(JSON.stringify(body.push))).length === 0).toBe(
      taken,
    );
    const { status } = await asking('POST /pushes')('', { body, ...service.asAdmin });
    expect(status).toBe(taken ? 201 : 422);
  });

  test('gets the defaults that are described', async () => {
    const { json } = await asking('POST /pushes')('', push());
    const { payload, kind, passphrase, ...fields } = document.components.schemas.NewPush.properties;
    expect([kind.default, passphrase.default]).toEqual(['text', '']);
    for (const [name, { default: value }] of Object.entries<{ default: unknown }>(fields))
      expect([name, json[name]]).toEqual([name, value]);
  });
});

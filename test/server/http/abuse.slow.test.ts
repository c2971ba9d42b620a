import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../../src/server/store/sql';
import { partOf } from '../../helpers/long';
import {
  failingDatabase,
  notedDatabase,
  type OverDatabase,
  overDatabase,
} from '../../helpers/over-database';
import { makePerson, onNode, person, serveBuilt, serving } from '../../helpers/program';
import {
  type Answer,
  call,
  create,
  createWithFiles,
  filePart,
  testService,
} from '../../helpers/service';

const DAY = 86_400_000;

describe('what must not be told apart', () => {
  let database: Database;
  let statements: string[];
  let service: OverDatabase;
  let token: string;

  beforeEach(async () => {
    ({ database, statements } = await notedDatabase());
    service = overDatabase(database);
    token = await service.owners.add('admin');
  });
  afterEach(() => database.close());

  /** The answer, and what the database was asked before it was there. */
  async function answered(method: string, path: string, init: RequestInit = {}) {
    statements.length = 0;
    const response = await service.fetch(new Request(`http://pw.test${path}`, { method, ...init }));
    const asked = [...statements];
    const headers = Object.fromEntries(response.headers);
    return { asked, status: response.status, headers, body: await response.text() };
  }

  /** One of each way to have expired, by what it is. */
  async function expired(): Promise<Record<string, string>> {
    const short = { expire_after_days: 1, retrieval_step: false };
    const viewed = await create(service, { payload: 'x', expire_after_views: 1, ...short });
    await call(service, 'GET', `/api/v2/pushes/${viewed}`);
    const deleted = await create(service, { payload: 'x' });
    await call(service, 'DELETE', `/api/v2/pushes/${deleted}`);
    const overdue = await create(service, { payload: 'x', ...short });
    const hidden = await create(service, { payload: 'x', passphrase: 'p', ...short });
    const admin = { fetch: service.fetch, adminToken: token };
    const files = await createWithFiles(admin, filePart('a', 'A'));
    await call(service, 'DELETE', `/api/v2/pushes/${files}`);
    service.clock.advance(DAY);
    return { viewed, deleted, overdue, hidden, files };
  }

  const own = { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://pw.test' };

  test.each([
    ['GET', '/p/*', {}],
    ['GET', '/p/*/r', {}],
    ['HEAD', '/p/*', {}],
    ['GET', '/p/*', { headers: { 'sec-purpose': 'prefetch' } }],
    ['POST', '/p/*', { headers: own, body: '' }],
    ['POST', '/p/*/r', { headers: own, body: 'passphrase=p' }],
    ['POST', '/p/*', { headers: own, body: 'do=expire' }],
  ])('%s %s of a push that expired, and of one that never was: %j', async (method, path, init) => {
    const ended = await expired();
    const never = await answered(method, path.replace('*', 'never-was'), init);
    expect([never.status, never.asked.length]).toEqual([404, 1]);
    for (const [how, urlToken] of Object.entries(ended))
      expect({ how, ...(await answered(method, path.replace('*', urlToken), init)) }).toEqual({
        how,
        ...never,
      });
  });

  test('a look at a page that came too late is noted all the same, a little later', async () => {
    const urlToken = await create(service, { payload: 'x', expire_after_days: 1 }, token);
    service.clock.advance(DAY);
    await answered('GET', `/p/${urlToken}`);
    await service.finish();
    const { json } = await call(service, 'GET', `/api/v2/pushes/${urlToken}/audit`, { token });
    expect(json.logs.map(({ kind }: { kind: string }) => kind)).toEqual([
      'creation',
      'failed_view',
    ]);
    expect(await database.sql`SELECT push_id FROM secrets`).toEqual([]);
  });

  test('API tokens that are wrong, cut, longer, revoked or nothing at all', async () => {
    const revoked = await service.owners.add('bob');
    await service.owners.revoke('bob');
    const asBearer = (text: string) =>
      answered('GET', '/api/v2/pushes/active', { headers: { authorization: `Bearer ${text}` } });
    const wrong = await asBearer('pwp_x');
    expect([wrong.status, wrong.asked.length]).toEqual([401, 1]);
    for (const text of [revoked, token.slice(0, -1), `${token}x`, token.toUpperCase(), ''])
      expect(await asBearer(text)).toEqual(wrong);
    expect((await asBearer(token)).status).toBe(200);
  });

  test('links to files that are gone, altered, or were made up', async () => {
    const admin = { fetch: service.fetch, adminToken: token };
    const urlToken = await createWithFiles(admin, filePart('a', 'A'));
    const { json } = await call(service, 'GET', `/api/v2/pushes/${urlToken}`);
    const { pathname } = new URL(json.files[0].url);
    expect((await answered('GET', pathname)).body).toBe('A');
    await call(service, 'DELETE', `/api/v2/pushes/${urlToken}`, { token });
    const { asked: _, ...madeUp } = await answered('GET', '/files/x');
    expect(madeUp.status).toBe(404);
    for (const path of [pathname, `${pathname}A`, pathname.slice(0, -1)]) {
      const { asked, ...gone } = await answered('GET', path);
      expect(gone).toEqual(madeUp);
    }
  });
});

describe('who may press a button', () => {
  let database: Database;
  let service: OverDatabase;

  beforeAll(async () => {
    ({ database } = await notedDatabase());
    service = overDatabase(database);
  });
  afterAll(() => database?.close());

  async function pressed(headers: Record<string, string>): Promise<number> {
    const token = await create(service, { payload: 'hunter2' });
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const init = { method: 'POST', headers: { ...type, ...headers }, body: '' };
    const response = await service.fetch(new Request(`http://pw.test:5100/p/${token}`, init));
    const seen = (await response.text()).includes('hunter2');
    expect(seen).toBe(response.status === 200);
    // What was refused has taken no view.
    const { json } = await call(service, 'GET', `/api/v2/pushes/${token}`);
    expect(json.views_remaining).toBe(seen ? 3 : 4);
    return response.status;
  }

  test.each([
    ['no word of where it comes from', {}, 200],
    ['our own origin', { origin: 'http://pw.test:5100' }, 200],
    ['a browser under no-referrer', { origin: 'null', 'sec-fetch-site': 'same-origin' }, 200],
    ['an address bar', { 'sec-fetch-site': 'none' }, 200],
    ['another port', { origin: 'http://pw.test' }, 403],
    ['another scheme', { origin: 'https://pw.test:5100' }, 403],
    ['another case', { origin: 'HTTP://PW.TEST:5100' }, 403],
    ['a host that only begins like ours', { origin: 'http://pw.test:5100.evil.example' }, 403],
    ['a host that ends like ours', { origin: 'http://evil-pw.test:5100' }, 403],
    ['two origins', { origin: 'http://pw.test:5100 http://evil.example' }, 403],
    ['a user in the origin', { origin: 'http://pw.test:5100@evil.example' }, 403],
    ['an empty origin', { origin: '' }, 403],
    ['a sandboxed frame elsewhere', { origin: 'null', 'sec-fetch-site': 'cross-site' }, 403],
    ['a neighbour', { origin: 'http://pw.test:5100', 'sec-fetch-site': 'same-site' }, 403],
    ['a site that lies about its origin', { origin: 'null', 'sec-fetch-site': '' }, 403],
    ['two sites', { 'sec-fetch-site': 'cross-site, same-origin' }, 403],
    ['another case of site', { 'sec-fetch-site': 'Same-Origin' }, 403],
    ['a header that names our host', { origin: 'http://a.b', 'x-forwarded-host': 'a.b' }, 403],
  ])('%s', async (_, headers, status) => {
    expect(await pressed(headers)).toBe(status);
  });

  test.each([
    ['HEAD', {}],
    ['GET', { 'sec-purpose': 'prefetch' }],
    ['GET', { 'Sec-Purpose': 'Prefetch;Prerender' }],
    ['GET', { purpose: 'prefetch' }],
    ['GET', { 'x-moz': 'prefetch' }],
    ['GET', { 'x-purpose': 'preview' }],
    ['GET', { 'user-agent': 'Slackbot-LinkExpanding 1.0' }],
    ['GET', { 'user-agent': 'WhatsApp/2.23.20.0 N' }],
  ])('nothing is shown, and no view taken, by %s with %j', async (method, headers) => {
    const push = { payload: 'hunter2', retrieval_step: false, expire_after_views: 1 };
    const token = await create(service, push);
    for (const path of [
      `/p/${token}`,
      `/p/${token}/r`,
      `/p/${token}.json`,
      `/api/v2/pushes/${token}`,
    ]) {
      const { text } = await call(service, method, path, { headers });
      expect(text).not.toContain('hunter2');
    }
    expect((await call(service, 'GET', `/api/v2/pushes/${token}`)).json.payload).toBe('hunter2');
  });
});

describe('who may create', () => {
  test.each([
    ['cross-site', 403],
    ['Cross-Site', 403],
    ['same-site', 201],
    ['same-origin', 201],
    ['none', 201],
  ])('a browser that says %s: %i', async (site, status) => {
    const { database } = await notedDatabase();
    const service = overDatabase(database);
    const headers = { 'sec-fetch-site': site };
    const body = { push: { payload: 'x' } };
    const form = [{ name: 'push[payload]', value: 'x' }];
    for (const sent of [{ body }, { form }])
      expect((await call(service, 'POST', '/api/v2/pushes', { headers, ...sent })).status).toBe(
        status,
      );
    const [row] = await database.sql<{ pushes: number }>`SELECT count(*) AS pushes FROM pushes`;
    expect(Number(row?.pushes)).toBe(status === 201 ? 2 : 0);
    await database.close();
  });

  // Over plain http, browsers say the origin alone.
  test.each([
    ['a form of another site', 'http://evil.example', 'application/x-www-form-urlencoded', 403],
    ['a form of a sandboxed frame', 'null', 'application/x-www-form-urlencoded', 403],
    ['text of another site', 'http://evil.example', 'text/plain', 403],
    ['a form of ours', 'http://pw.test:5100', 'application/x-www-form-urlencoded', 201],
    ['what a browser asks about first', 'chrome-extension://abc', 'application/json', 201],
  ])('%s, from %s', async (_, origin, type, status) => {
    const { database } = await notedDatabase();
    const { fetch } = overDatabase(database);
    const body = type === 'application/json' ? '{"push":{"payload":"x"}}' : 'push[payload]=x';
    const headers = { origin, 'content-type': type };
    const url = 'http://pw.test:5100/api/v2/pushes';
    const response = await fetch(new Request(url, { method: 'POST', headers, body }));
    expect(response.status).toBe(status);
    await database.close();
  });
});

test('what was still to be noted is noted before the service ends', async () => {
  const data = await mkdtemp(join(tmpdir(), 'pwpush-'));
  try {
    const first = await testService({ data });
    const urlToken = await create(first, { payload: 'x', expire_after_days: 1 }, first.adminToken);
    first.clock.advance(DAY);
    const page = await first.fetch(new Request(`http://pw.test/p/${urlToken}`));
    await first.close();
    const second = await testService({ data, clock: first.clock });
    const path = `/api/v2/pushes/${urlToken}/audit`;
    const { json } = await call(second, 'GET', path, { token: first.adminToken });
    await second.close();
    expect([page.status, json.logs.at(-1).kind]).toEqual([404, 'failed_view']);
  } finally {
    await rm(data, { recursive: true });
  }
});

test('no failure tells what is inside, on any route', async () => {
  const error = new Error(
    'relation "zebra" does not exist: SELECT * FROM zebra at /srv/zebra.ts:1',
  );
  const database = await failingDatabase(error);
  const service = overDatabase(database);
  const token = { token: 'x' };
  const answers = await Promise.all([
    call(service, 'GET', '/api/v2/pushes/expired', token),
    call(service, 'POST', '/api/v2/pushes', { body: { push: { payload: 'x' } } }),
    call(service, 'GET', '/api/v2/pushes/x'),
    call(service, 'GET', '/api/v2/pushes/x/preview'),
    call(service, 'GET', '/api/v2/pushes/x/audit', token),
    call(service, 'DELETE', '/api/v2/pushes/x'),
    call(service, 'GET', '/api/v2/pushes/active', token),
    call(service, 'GET', '/p/x'),
    call(service, 'GET', '/p/x.json'),
    call(service, 'POST', '/p/x/r'),
    call(service, 'GET', '/api/v2/requests/ready', token),
    call(service, 'GET', '/api/v2/requests/x'),
    call(service, 'GET', '/api/v2/requests/x/preview'),
    call(service, 'PATCH', '/api/v2/requests/x/respond', { body: { request: {} } }),
    call(service, 'GET', '/r/x'),
    call(service, 'GET', '/r/x.json'),
    call(service, 'POST', '/r/x'),
    call(service, 'GET', '/up'),
  ]);
  const told = (answer: Answer) => `${answer.text}${JSON.stringify([...answer.headers])}`;
  expect(answers.map(({ status }) => status)).toEqual([...Array(17).fill(500), 503]);
  for (const answer of answers) expect(told(answer)).not.toMatch(/zebra|SELECT/);
  expect(service.lines.join('\n')).not.toMatch(/zebra|SELECT/);
  await database.close();
});

test('passphrase tries count together over processes on one SQLite', async () => {
  const somebody = makePerson();
  const services = [await serveBuilt(somebody.env), await serveBuilt(somebody.env)];
  try {
    const asked = async (at: number, path: string, init: RequestInit = {}) =>
      fetch(`${services[at % 2]?.url}/api/v2/pushes${path}`, init);
    const body = JSON.stringify({ push: { payload: 'x', passphrase: 'right' } });
    const headers = { 'content-type': 'application/json' };
    const made = await asked(0, '', { method: 'POST', headers, body });
    const { url_token } = (await made.json()) as { url_token: string };
    const tries = Array.from({ length: 12 }, (_, at) =>
      asked(at, `/${url_token}?passphrase=wrong`),
    );
    const statuses = (await Promise.all(tries)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(5).fill(401), ...Array(7).fill(429)]);
    const right = await Promise.all(
      [0, 1].map((at) => asked(at, `/${url_token}?passphrase=right`)),
    );
    expect(right.map(({ status }) => status)).toEqual([429, 429]);
    expect(right.every((answer) => Number(answer.headers.get('retry-after')) > 0)).toBe(true);
  } finally {
    await Promise.all(services.map(({ stop }) => stop()));
  }
});

describe('a form of eight million signs', onNode, () => {
  const somebody = person();
  const service = serving({ ...somebody.env, NODE_OPTIONS: '--max-old-space-size=256' });

  const signs = (encoded: string) =>
    encoded.repeat(Math.floor((8 * 1024 * 1024 - 64) / encoded.length));

  const forms: [string, (field: string) => string, number][] = [
    ['in the secret', (field) => `${field}=${signs('+')}`, 422],
    ['in lines of the secret', (field) => `${field}=x${signs('%0D%0A')}`, 422],
    ['in a field that it has not', (field) => `${field}=x&${field}x=${signs('+')}`, 200],
    ['in the name of a field', (field) => `${field}=x&${signs('+')}`, 200],
    ['in fields', (field) => `${field}=x&${signs('&')}`, 400],
  ];
  test.each(partOf(forms, 0))(
    '%s does not stop a service with a heap of 256 MiB',
    async (_, form, status) => {
      const ask = async () =>
        (await service.ask('POST', '/requests', { request: { request: 'x' } })).json.url_token;
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const send = async (method: string, path: string, field: string) => {
        const response = await fetch(service.url + path, { method, headers, body: form(field) });
        await response.arrayBuffer();
        return response.status === 201 ? 200 : response.status;
      };
      const statuses = [
        await send('POST', '/api/v2/pushes', 'push[payload]'),
        await send('POST', '/', 'push[payload]'),
        await send('PATCH', `/api/v2/requests/${await ask()}/respond`, 'request[response]'),
        await send('POST', `/r/${await ask()}`, 'request[response]'),
      ];
      expect(statuses).toEqual(Array(4).fill(status));
    },
  );
});

import { beforeEach, describe, expect, test } from 'vitest';
import { deferred } from '../../helpers/deferred';
import { published } from '../../helpers/openapi';
import { failingDatabase, overDatabase, overNoted } from '../../helpers/over-database';
import { askedOf, at, type Call, call, filePart, inTab } from '../../helpers/service';

const DAY = 86_400_000;

let service: Awaited<ReturnType<typeof overNoted>>;
beforeEach(async () => {
  service = await overNoted();
});

describe('what must not be told apart', () => {
  /** The answer, and what the database was asked before it was there. */
  async function answered(method: string, path: string, how?: Call) {
    service.statements.length = 0;
    const { status, headers, text } = await service.call(method, path, how);
    const asked = [...service.statements];
    return { asked, status, headers: Object.fromEntries(headers), body: text };
  }

  /** One of each way to have expired, by what it is. */
  async function expired(): Promise<Record<string, string>> {
    const short = { expire_after_days: 1, retrieval_step: false };
    const viewed = await service.create({ payload: 'x', expire_after_views: 1, ...short });
    await service.retrieve(viewed);
    const deleted = await service.create({ payload: 'x' });
    const overdue = await service.create({ payload: 'x', ...short });
    const hidden = await service.create({ payload: 'x', passphrase: 'p', ...short });
    const kept = await service.create({ payload: 'x', deletable_by_viewer: false, ...short });
    const files = await service.createWithFiles(filePart('a', 'A'));
    for (const token of [deleted, files]) await service.expire(token);
    service.clock.advance(DAY);
    return { viewed, deleted, overdue, hidden, kept, files };
  }

  const own = { headers: { origin: 'http://pw.test' } };

  test.each<[string, string, number, Call?]>([
    ['GET', '/p/*', 404],
    ['GET', '/p/*/r', 404],
    ['GET', '/p/*', 404, { headers: { 'sec-purpose': 'prefetch' } }],
    ['POST', '/p/*', 404, { ...own, fields: {} }],
    ['POST', '/p/*/r', 404, { ...own, fields: { passphrase: 'p' } }],
    ['POST', '/p/*', 403, { headers: { origin: 'https://evil.example' }, fields: {} }],
    ['POST', '/p/*/r', 413, { ...own, fields: { passphrase: 'x'.repeat(20_000) } }],
  ])('%s %s of a push that expired, or never was: %i', async (method, path, ...row) => {
    const [status, how] = row;
    const ended = await expired();
    const never = await answered(method, path.replace('*', 'never-was'), how);
    expect([never.status, never.asked.length]).toEqual([status, status === 404 ? 1 : 0]);
    for (const [which, token] of Object.entries(ended))
      expect({ which, ...(await answered(method, path.replace('*', token), how)) }).toEqual({ which, ...never });
  });

  test('API tokens that are wrong, cut, longer, revoked or nothing at all', async () => {
    const { adminToken: token, owners } = service;
    const { token: revoked } = await owners.add('bob');
    await owners.revoke('bob');
    const withToken = (token: string) => answered('GET', at('active'), { token });
    const wrong = await withToken('pwp_x');
    expect([wrong.status, wrong.asked.length]).toEqual([401, 1]);
    for (const text of [revoked, token.slice(0, -1), `${token}x`, token.toUpperCase(), ''])
      expect(await withToken(text)).toEqual(wrong);
    expect((await withToken(token)).status).toBe(200);
  });

  test('links to files that are gone, altered, or were made up', async () => {
    const token = await service.createWithFiles(filePart('a', 'A'));
    const { json } = await service.retrieve(token);
    const { pathname } = new URL(json.files[0].url);
    expect((await answered('GET', pathname)).body).toBe('A');
    await service.expire(token, service.asAdmin);
    const madeUp = await answered('GET', '/files/x');
    expect(madeUp.status).toBe(404);
    for (const path of [pathname, `${pathname}A`, pathname.slice(0, -1)])
      expect({ ...(await answered('GET', path)), asked: madeUp.asked }).toEqual(madeUp);
  });
});

test('of passphrases 32 wait for the one that is checked, and four of each client', async () => {
  const { promise, resolve } = deferred<void>();
  let counted = Promise.resolve();
  service = await overNoted((database) => ({
    ...database,
    transaction: async (work, how) => {
      await counted;
      return database.transaction(work, how);
    },
  }));
  const token = await service.create({ payload: 'x', passphrase: 'p' });
  counted = promise;
  const clients = Array.from({ length: 10 }, (_, at) => `192.0.2.${at}`);
  const refused: string[] = [];
  const asked = clients.flatMap((ip) =>
    Array.from({ length: 6 }, async () => {
      const fetch = (request: Request) => service.app(request, { ip });
      if ((await call({ fetch }, 'GET', at(`${token}?passphrase=p`))).status === 503) refused.push(ip);
    }),
  );
  await expect.poll(() => refused.length, { message: 'refusals of all but 33' }).toBe(27);
  const counts = clients.map((ip) => refused.filter((one) => one === ip).length);
  expect(counts).toEqual([1, 2, 2, 2, 2, 2, 2, 2, 6, 6]);
  resolve();
  await Promise.all(asked);
  expect(refused).toHaveLength(27);
});

test('a repetition writes nothing, checks no passphrase, and counts memory before it reads', async () => {
  const push = { payload: 'x', passphrase: 'p', expire_after_views: 2 };
  const token = await service.create(push);
  const how = { headers: { 'idempotency-key': '"0123456789abcdef"' } };
  const get = () => service.retrieve(`${token}?passphrase=p`, how);
  const first = await get();
  service.statements.length = 0;
  expect((await get()).json).toEqual(first.json);
  expect(service.statements.join()).not.toMatch(/INSERT|UPDATE|DELETE|verifier/);
  const [size, text] = service.statements.slice(-2);
  expect([size?.includes('length('), text?.includes('length(')]).toEqual([true, false]);
});

test.each([
  ['HEAD', {}, 405],
  ['GET', { ...inTab, 'sec-purpose': 'prefetch;prerender' }, 400],
])('nothing is shown, and no view taken, by %s with %j', async (method, headers, status) => {
  const push = { payload: 'hunter2', retrieval_step: false, expire_after_views: 1 };
  const token = await service.create(push);
  const statuses = [];
  for (const path of [`/p/${token}`, `/p/${token}/r`, `/p/${token}.json`, at(token)]) {
    const answer = await service.call(method, path, { headers });
    expect(answer.text).not.toContain('hunter2');
    statuses.push(answer.status);
  }
  expect(statuses).toEqual([200, 200, status, status]);
  expect((await service.retrieve(token)).json.payload).toBe('hunter2');
});

test.each<Record<string, string>>([
  {},
  { accept: '*/*', 'user-agent': 'curl/8.5.0' },
  {
    accept: 'text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.8',
    'user-agent': 'Mozilla/5.0',
  },
  { accept: 'application/activity+json' },
  { ...inTab, 'sec-fetch-dest': 'iframe' },
  { ...inTab, 'sec-fetch-mode': 'no-cors' },
])('without the click, what opens no tab gets the button and takes no view: %j', async (headers) => {
  const token = await service.create({ payload: 'hunter2', retrieval_step: false });
  const { status, text } = await service.call('GET', `/p/${token}`, { headers });
  expect([status, text.includes('<form method="post"'), text.includes('hunter2')]).toEqual([200, true, false]);
  expect((await service.retrieve(token)).json.views_remaining).toBe(4);
});

test.each([
  [inTab, /<pre class="value.*\nhunter2</s],
  [{ accept: 'text/plain' }, /^hunter2$/],
  [{ accept: 'application/json' }, /^\{.*"payload":"hunter2"/],
])('without the click, who opens a tab or asks for text takes a view: %j', async (headers, shown) => {
  const token = await service.create({ payload: 'hunter2', retrieval_step: false });
  expect((await service.call('GET', `/p/${token}`, { headers })).text).toMatch(shown);
  expect((await service.retrieve(token)).json.views_remaining).toBe(3);
});

test.each([
  ['cross-site', 403],
  ['same-site', 201],
])('who may create: a browser that says %s: %i', async (site, status) => {
  const headers = { 'sec-fetch-site': site };
  const sent: Call[] = [
    { body: { push: { payload: 'x' } } },
    { form: [{ name: 'push[payload]', value: 'x' }] },
    { fields: { 'push[payload]': 'x' } },
  ];
  for (const how of sent)
    expect((await service.call('POST', '/api/v2/pushes', { ...how, headers })).status).toBe(status);
  const asking = { body: { request: { request: 'x' } }, token: service.adminToken, headers };
  expect((await service.call('POST', '/api/v2/requests', asking)).status).toBe(status);
  const made = await service.database.sql`SELECT id FROM pushes`;
  expect(made).toHaveLength(status === 201 ? 4 : 0);
});

test('no failure tells what is inside, on any route, and its place only to the log', async () => {
  const message = 'relation "zebra" does not exist: SELECT * FROM zebra at /srv/zebra.ts:1';
  const database = await failingDatabase(new Error(message));
  const { lines, ...failing } = overDatabase(database);
  const on = askedOf({ ...failing, adminToken: 'x' });
  const api = Object.keys(published().calls).filter((name) => name !== 'GET /version');
  const named = api.map((name) => name.replace(' ', ' /api/v2').replace('{token}', 'x'));
  for (const name of [...named, 'GET /p/x', 'GET /p/x.json', 'POST /p/x/r', 'POST /r/x']) {
    lines.length = 0;
    const [method = '', path = ''] = name.split(' ');
    // Without it, some ask nothing of the database.
    const how = path.startsWith('/api') ? { token: 'x' } : {};
    const { status, text, headers } = await on.call(method, path, how);
    expect([name, status]).toEqual([name, 500]);
    expect(text).toMatch(/^\{"error":"[^"]+"\}$|<h1>Something went wrong<\/h1>/);
    expect(`${text}${JSON.stringify([...headers])}${lines}`).not.toMatch(/zebra|SELECT/);
    expect(lines[0]).toMatch(/^2026-08-20T11:06:45.000Z error Error at /);
  }
  expect((await on.call('GET', '/up')).status).toBe(503);
  await database.close();
});

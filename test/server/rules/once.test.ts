import { hash as hashOf } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { unseal } from '../../../src/server/keys/primitives';
import type { KeptViewRow } from '../../../src/server/store/kept-rows';
import { plain } from '../../../src/server/store/sql';
import { keyIn } from '../../helpers/at-rest';
import {
  type Answer,
  type Call,
  FORM_TYPE,
  filePart,
  formBytes,
  opened,
  partsOf,
  type TestService,
  testClock,
} from '../../helpers/service';
import { inRoom, onEachStore, type Room } from '../../helpers/stores';

const KEY = 'Jk3dF8s-Qw2mZx0pLr7tVg';
const OTHER = 'b1u4HnY9oXc5TeKa2WfE6Q';
const MINUTE = 60_000;

const withKey = (key: string, how: Call = {}): Call => ({ ...how, headers: { 'idempotency-key': `"${key}"` } });

onEachStore((store) => {
  let room: Room;
  /** Two that share their data, as two processes would. */
  let services: TestService[];
  const service = () => services[0] as TestService;
  const close = () => Promise.all(services.map((one) => one.close()));

  beforeEach(async () => {
    room = await store.room();
    const first = await opened(room.settings);
    services = [first, await opened({ ...room.settings, clock: first.clock })];
  });

  const admin = () => service().asAdmin;
  const get = (token: string, how?: Call) => service().retrieve(token, how);
  const payload = async (token: string, how?: Call) => (await get(token, how)).json.payload;
  const ask = (method: string, path: string, how: Call) => service().call(method, `/api/v2/${path}`, how);
  const post = (path: string, how: Call) => ask('POST', path, how);
  const copies = <T>(work: (one: TestService) => Promise<T>) =>
    Promise.all([0, 1, 0, 1, 0, 1].map((index) => work(services[index] as TestService)));

  /** What is kept for those who repeat a view: entries of the log, and texts whose secrets are gone. */
  const keptIn = () =>
    inRoom(room, ({ sql }) =>
      Promise.all([
        sql<KeptViewRow>`SELECT * FROM audit
          WHERE COALESCE(until, views) IS NOT NULL OR sealed IS NOT NULL`,
        sql<{ payload: Uint8Array }>`SELECT payload FROM spent`,
      ]),
    );
  const kept = async () => (await keptIn()).flat();
  const sizes = {
    SQLite: 'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()',
    PostgreSQL: 'SELECT pg_database_size(current_database()) AS bytes',
  };
  const size = async () => {
    const [row] = await inRoom(room, ({ sql }) => sql<{ bytes: number }>(plain(sizes[store.name])));
    return Number(row?.bytes);
  };

  const oneTime = () => service().create({ payload: 'x', expire_after_views: 1 }, admin().token);

  describe('a retrieval', () => {
    test.each([
      [1, null],
      [2, 'x'],
    ])('of a push of %i views, repeated, gets its response and takes one', async (views, left) => {
      const push = { payload: 'x', expire_after_views: views };
      const token = await service().create(push, admin().token);
      const first = await get(token, withKey(KEY));
      const remaining = { views_remaining: views - 1, expired: false };
      expect(first.json).toMatchObject({ payload: 'x', ...remaining });
      expect((await get(token, withKey(KEY))).json).toEqual(first.json);
      expect(await service().kindsOf(token)).toEqual(['creation', 'view']);
      expect([await payload(token), await payload(token, withKey(OTHER))]).toEqual([left, null]);
      expect((await get(token, withKey(KEY))).json).toEqual(first.json);
    });

    test('of which six copies arrive at once takes one view', async () => {
      // All find the push before one of them has its passphrase checked.
      const push = { payload: 'x', passphrase: 'y', expire_after_views: 9 };
      const token = await service().create(push, admin().token);
      const all = await copies((one) => one.retrieve(`${token}?passphrase=y`, withKey(KEY)));
      expect(all.map(({ json }) => json.views_remaining)).toEqual(Array(6).fill(8));
      expect(await service().kindsOf(token)).toEqual(['creation', 'view']);
    });

    test('gets it for two minutes, and then it is deleted', async () => {
      const token = await oneTime();
      await get(token, withKey(KEY));
      service().clock.advance(2 * MINUTE - 1);
      expect(await payload(token, withKey(KEY))).toBe('x');
      service().clock.advance(1);
      expect(await kept()).toHaveLength(2);
      await service().service.housekeeping.sweep();
      expect(await kept()).toEqual([]);
      expect(await payload(token, withKey(KEY))).toBeNull();
      expect(await payload(await oneTime(), withKey(KEY))).toBe('x');
    });

    test('is answered whenever its two minutes end meanwhile', async () => {
      const clock = testClock();
      let looks = 0;
      const now = () => {
        looks -= 1;
        if (looks === 0) clock.advance(2 * MINUTE);
        return clock.now();
      };
      const one = await opened({ ...room.settings, clock: { ...clock, now } });
      const token = await one.create({ payload: 'x', expire_after_views: 50 });
      const got = new Set<string>();
      for (let nth = 1; looks <= 0; nth += 1) {
        const ask = () => one.retrieve(token, withKey(`${KEY}-${nth}`));
        looks = Number.POSITIVE_INFINITY;
        const before = (await ask()).json.views_remaining;
        looks = nth;
        const { status, json } = await ask();
        got.add(status === 200 ? `${before - json.views_remaining} more` : `${status}`);
      }
      expect([...got].sort()).toEqual(['0 more', '1 more']);
    });

    test('gets it while one of those is kept whose views the last one followed', async () => {
      const token = await service().create({ payload: 'x', expire_after_views: 3 });
      const first = await get(token, withKey(KEY));
      service().clock.advance(MINUTE);
      const second = await get(token, withKey(OTHER));
      expect((await get(token)).json.views_remaining).toBe(0);
      expect((await get(token, withKey(KEY))).json).toEqual(first.json);
      service().clock.advance(MINUTE);
      await service().service.housekeeping.sweep();
      expect(await payload(token, withKey(KEY))).toBeNull();
      expect((await get(token, withKey(OTHER))).json).toEqual(second.json);
      service().clock.advance(MINUTE);
      await service().service.housekeeping.sweep();
      expect(await kept()).toEqual([]);
    });

    test('of its owner takes no view, so that nothing is kept', async () => {
      const token = await service().createOwn();
      for (const key of [KEY, KEY, OTHER])
        expect((await get(token, withKey(key, admin()))).json.views_remaining).toBe(5);
      expect(await kept()).toEqual([]);
      expect(await service().kindsOf(token)).toEqual(['creation', 'owner_view 3']);
    });

    test('writes no copy of what it gets, however many there are', async () => {
      const payload = '\u0001'.repeat(100_000);
      const tokens = await Promise.all([1, 2, 3].map(() => service().createOwn({ payload, expire_after_views: 99 })));
      const before = await size();
      for (let nth = 0; nth < 98; nth += 1) {
        const how = withKey(`${KEY}-${nth}`, nth % 2 === 0 ? {} : admin());
        for (const token of tokens) expect((await get(token, withKey(`${token}-${nth}-of-22`, how))).status).toBe(200);
      }
      expect((await size()) - before).toBeLessThan(1_000_000);
    });

    // A push that lives for less is kept for no longer.
    test.each([600, 60])('gets nothing once it did, if a clock goes back (%d s)', async (life) => {
      const push = { payload: 'x', expire_after_views: 1, expires_in: life };
      const token = await service().create(push);
      const read = () => payload(token, withKey(KEY));
      const got = [await read()];
      service().clock.advance(Math.min(2 * MINUTE, life * 1000));
      got.push(await read());
      service().clock.advance(-5000);
      expect([...got, await read()]).toEqual(['x', null, null]);
    });

    test.each([6, 8, 11])('is not kept longer if the clock is set back (%d min)', async (back) => {
      const token = await oneTime();
      expect(await payload(token, withKey(KEY))).toBe('x');
      service().clock.advance(-back * MINUTE);
      expect(await payload(token, withKey(KEY))).toBeNull();
      await service().service.housekeeping.sweep();
      expect(await kept()).toEqual([]);
      expect(await payload(await oneTime(), withKey(KEY))).toBe('x');
    });

    test('gets it where the logs of expired pushes are not kept', async () => {
      const one = await opened({ ...room.settings, clock: service().clock, keepDays: 0 });
      const how = withKey(OTHER, { body: { push: { payload: 'x', expire_after_views: 1 } } });
      const make = async () => (await one.call('POST', '/api/v2/pushes', how)).json.url_token;
      const token = await make();
      expect(await payload(token, withKey(KEY))).toBe('x');
      service().clock.advance(MINUTE);
      await one.service.housekeeping.sweep();
      expect([await payload(token, withKey(KEY)), await make()]).toEqual(['x', token]);
      service().clock.advance(9 * MINUTE);
      await one.service.housekeeping.sweep();
      expect((await get(token)).status).toBe(404);
    });

    test('gets nothing once the push is expired by its owner', async () => {
      const [used, open] = [await oneTime(), await service().create({ payload: 'x' })];
      for (const [token, key] of [
        [used, KEY],
        [open, OTHER],
      ] as const) {
        await get(token, withKey(key));
        await service().expire(token, admin());
        expect((await get(token, withKey(key))).json.payload).toBeNull();
      }
      expect(await kept()).toEqual([]);
    });

    test('gets nothing once its page is hidden', async () => {
      const token = await oneTime();
      await get(token, withKey(KEY));
      const headers = { origin: 'http://pw.test' };
      const hide = (once: string) => service().call('POST', `/p/${token}`, { headers, fields: { do: 'hide', once } });
      expect((await hide(OTHER)).status).toBe(200);
      expect(await payload(token, withKey(KEY))).toBe('x');
      expect((await hide(KEY)).status).toBe(200);
      expect([await kept(), await payload(token, withKey(KEY))]).toEqual([[], null]);
    });

    test('is another one for another passphrase or caller, and says nothing of another push or call', async () => {
      const token = await service().create({ payload: 'x', passphrase: 'y' });
      const path = `${token}?passphrase=`;
      // One that is refused keeps nothing.
      expect((await get(`${path}z`, withKey(KEY))).status).toBe(401);
      expect(await kept()).toEqual([]);
      expect((await get(`${path}y`, withKey(KEY))).status).toBe(200);
      const others = [
        await get(`${path}z`, withKey(KEY)),
        await get(`${path}y`, withKey(KEY, admin())),
        await get(await oneTime(), withKey(KEY)),
        await post('pushes', withKey(KEY, { body: { push: { payload: 'x' } } })),
      ];
      expect(others.map(({ status }) => status)).toEqual([422, 422, 200, 201]);
      expect(others[0]?.json.error).toContain('Idempotency-Key');
      expect((await get(`${path}y`, withKey(KEY))).json.views_remaining).toBe(4);
    });

    test('gets its files again, by the same links', async () => {
      const form = [filePart('a.txt', 'content'), ...partsOf({ expire_after_views: 1 })];
      const { json } = await post('pushes', { form, ...admin() });
      const first = await get(json.url_token, withKey(KEY));
      service().clock.advance(MINUTE);
      const again = await get(json.url_token, withKey(KEY));
      expect(again.json).toEqual(first.json);
      const [file] = again.json.files;
      const content = await service().call('GET', new URL(file.url).pathname);
      expect([file.filename, content.text]).toEqual(['a.txt', 'content']);
    });

    test('is kept so that neither the database nor the instance key opens it', async () => {
      const token = await service().create({ payload: 'MARKER', expire_after_views: 1 });
      await get(token, withKey(KEY));
      await close();
      expect((await room.remains()).includes('MARKER')).toBe(false);
      const [[row], [spent]] = (await keptIn()) as [[KeptViewRow], [{ payload: Uint8Array }]];
      const { bytes, wrapping, linking } = await keyIn(room.settings);
      const purpose = 'pwpush idempotency key ';
      /** Without a passphrase, a proof or an owner. */
      const sealingOf = (key: string) => {
        const secret = hashOf('sha512', `${purpose}${key}`, 'hex').slice(24);
        const fields = `${secret} string 0 undefined 0 undefined 0\n`;
        return hashOf('sha512', fields, 'buffer').subarray(0, 32);
      };
      const keysIn = (key: Uint8Array) => unseal(key, row.sealed, 'pwpush kept keys');
      const textIn = (key: Uint8Array) => unseal(key, spent.payload, `pwpush push ${token} payload`).toString();
      for (const key of [wrapping, linking, bytes, sealingOf(`${row.key_hash}`)]) {
        expect(() => keysIn(key)).toThrow();
        expect(() => textIn(key.subarray(0, 32))).toThrow();
      }
      const key = keysIn(sealingOf(KEY));
      expect(textIn(key)).toBe('MARKER');
      services = [];
    });
  });

  describe('a creation', () => {
    const body = { push: { payload: 'x', note: 'n', passphrase: 'y' } };
    const files = (content: string) => [filePart('a.txt', content), ...partsOf({ payload: 'x' })];

    test('is done once in six copies, and after a restart', async () => {
      const how = withKey(KEY, { body, ...admin() });
      const all = await copies((one) => one.call('POST', '/api/v2/pushes', how));
      await close();
      services = [await opened({ ...room.settings, clock: service().clock })];
      const made = [...all, await post('pushes', withKey(KEY, { body, token: admin().token }))];
      // The new start has a token of its own for `admin`.
      expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
      expect(new Set(made.map(({ json }) => json.html_url)).size).toBe(1);
      expect((await get('active', admin())).json).toHaveLength(1);
      const other = { ...admin(), body: { push: { payload: 'y' } } };
      expect((await post('pushes', withKey(KEY, other))).status).toBe(422);
      const more = await post('pushes', withKey(OTHER, { body, ...admin() }));
      expect(more.json.url_token).not.toBe(made[0]?.json.url_token);
    });

    test('is the same whether an empty field is sent as null or left out', async () => {
      const sent = (push: object) => withKey(KEY, { body: { push }, ...admin() });
      const first = await post('pushes', sent({ payload: 'x' }));
      const again = await post('pushes', sent({ payload: 'x', note: null, retrieval_step: null }));
      expect([again.status, again.json.url_token]).toEqual([201, first.json.url_token]);
    });

    test('with files, too', async () => {
      const how = (content: string) => withKey(KEY, { form: files(content), ...admin() });
      const first = await post('pushes', how('one'));
      expect((await post('pushes', how('one'))).json.html_url).toBe(first.json.html_url);
      expect((await post('pushes', how('two'))).status).toBe(422);
      expect((await get('active', admin())).json).toHaveLength(1);
    });

    test('that is ended meanwhile is not done again', async () => {
      const first = await post('pushes', withKey(KEY, { body, ...admin() }));
      await service().expire(first.json.url_token, admin());
      const again = await post('pushes', withKey(KEY, { body, ...admin() }));
      expect(again.json).toMatchObject({ url_token: first.json.url_token, expired: true });
      service().clock.advance(10 * MINUTE);
      const later = await post('pushes', withKey(KEY, { body, ...admin() }));
      expect(later.json.url_token).not.toBe(first.json.url_token);
    });
  });

  describe('a request', () => {
    const asked = async (flags = {}) => {
      const body = { request: { request: 'Which?', ...flags } };
      return (await post('requests', withKey(OTHER, { body, ...admin() }))).json.url_token;
    };
    const respond = (token: string, how: Call, one = service()) =>
      one.call('PATCH', `/api/v2/requests/${token}/respond`, how);
    const read = async (token: string) => (await ask('GET', `requests/${token}`, admin())).json;
    const answer = (response: string) => ({ body: { request: { response } } });

    test('is created once', async () => {
      expect(await asked()).toBe(await asked());
      expect(await read('open')).toHaveLength(1);
    });

    test('has one answer that is sent six times, and is read as often', async () => {
      const token = await asked();
      const sent = await copies((one) => respond(token, withKey(KEY, answer('42')), one));
      expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 200));
      expect((await respond(token, withKey(KEY, answer('43')))).status).toBe(422);
      expect((await respond(token, answer('42'))).status).toBe(409);
      const key = 'a-third-key-of-22-chars';
      const path = `/api/v2/requests/${token}`;
      const all: Answer[] = await copies((one) => one.call('GET', path, withKey(key, admin())));
      expect(all.map(({ json }) => json.response)).toEqual(all.map(() => '42'));
      expect(all.map(({ json }) => json)).toEqual(all.map(() => all[0]?.json));
      expect((await read(token)).response).toBeNull();
      const log = await service().kindsOf(token, 'requests');
      expect(log.filter((kind) => /^resp/.test(kind))).toEqual(['response', 'response_view']);
    });

    test('takes an answer whose copy is still arriving', async () => {
      const token = await asked({ response_file_attachments: true });
      const form = [{ ...filePart('a.txt', 'x'.repeat(1_000_000)), name: 'request[files][]' }];
      const bytes = formBytes(form);
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const headers = { 'content-type': FORM_TYPE, 'idempotency-key': `"${KEY}"` };
      const copy = respond(token, { content: readable, headers });
      const sender = writable.getWriter();
      const middle = 900_000;
      // When it takes the last one, the upload has begun.
      for (let sent = 0; sent < middle; sent += 100_000) await sender.write(bytes.subarray(sent, sent + 100_000));
      const first = await respond(token, withKey(KEY, { form }));
      await sender.write(bytes.subarray(middle));
      await sender.close();
      expect([first.status, (await copy).status]).toEqual([200, 200]);
      expect(await service().kindsOf(token, 'requests')).toEqual(['creation', 'response']);
    });

    test('that was answered gets no more from who has used a key for something else', async () => {
      const token = await asked({ response_file_attachments: true });
      const form = [{ ...filePart('a.txt', 'x'), name: 'request[files][]' }];
      expect((await respond(token, { form })).status).toBe(200);
      const another = await service().create({ payload: 'x', retrieval_step: false });
      await get(another, withKey(KEY));
      expect((await respond(token, withKey(KEY, { form }))).status).toBe(409);
      // Nor does the page of a push that is over tell that it was there.
      const over = await oneTime();
      await get(over);
      const headers = { origin: 'http://pw.test' };
      const how = { headers, fields: { do: 'expire', once: KEY } };
      expect((await service().call('POST', `/p/${over}`, how)).status).toBe(404);
    });

    test('takes the files of an answer once', async () => {
      const token = await asked({ response_file_attachments: true });
      const file = { ...filePart('a.txt', 'content'), name: 'request[files][]' };
      const send = () => respond(token, withKey(KEY, { form: [file] }));
      expect([(await send()).status, (await send()).status]).toEqual([200, 200]);
      const other = { ...file, value: 'another' };
      expect((await respond(token, withKey(KEY, { form: [other] }))).status).toBe(422);
      expect((await read(token)).files).toHaveLength(1);
    });
  });

  test('the version tells the hash of the key that arrived', async () => {
    const { json } = await ask('GET', 'version', withKey(KEY));
    expect(json.idempotency_key).toBe('kDutvSxythyAqBoaqBL6YJ_XnhDAnys5i2ln_v2bu_U');
  });

  test.each([
    [`"${'x'.repeat(15)}"`, 400],
    [`"${'x'.repeat(16)}"`, 404],
    [`"${'x'.repeat(255)}"`, 404],
    [`"${'x'.repeat(256)}"`, 400],
    ['without-any-quotes-at-all', 400],
    ['"a\\b-0123456789abc"', 400],
  ])('a key that is %s is answered %i', async (value, expected) => {
    const { status, json } = await get('any', { headers: { 'idempotency-key': value } });
    expect([status, json.error.includes('double quotes')]).toEqual([expected, expected === 400]);
  });
});

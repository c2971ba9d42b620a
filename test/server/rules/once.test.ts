import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { instanceKey } from '../../../src/server/keys/instance-key';
import { derive, unseal } from '../../../src/server/keys/primitives';
import type { KeptRow } from '../../../src/server/store/kept-rows';
import { noted } from '../../helpers/noted';
import {
  type Answer,
  type Call,
  call,
  create,
  FORM_TYPE,
  filePart,
  formBytes,
  type TestService,
  testClock,
  testService,
} from '../../helpers/service';
import { onEachStore, type Room } from '../../helpers/stores';

const KEY = 'Jk3dF8s-Qw2mZx0pLr7tVg';
const OTHER = 'b1u4HnY9oXc5TeKa2WfE6Q';
const MINUTE = 60_000;

const withKey = (key: string, how: Call = {}): Call => ({
  ...how,
  headers: { 'idempotency-key': `"${key}"` },
});

onEachStore((store) => {
  let room: Room;
  /** Two that share their data, as two processes would. */
  let services: TestService[];
  const service = () => services[0] as TestService;
  const close = () => Promise.all(services.map((one) => one.close()));

  beforeEach(async () => {
    room = await store.room();
    const first = await testService(room.settings);
    services = [first, await testService({ ...room.settings, clock: first.clock })];
  });
  afterEach(close);

  const admin = () => ({ token: service().adminToken });
  const at = (path: string) => `/api/v2/${path}`;
  const get = (path: string, how?: Call) => call(service(), 'GET', at(path), how);
  const post = (path: string, how: Call) => call(service(), 'POST', at(path), how);
  const copies = <T>(work: (one: TestService) => Promise<T>) =>
    Promise.all([0, 1, 0, 1, 0, 1].map((index) => work(services[index] as TestService)));

  const kinds = async (path: string) =>
    (await get(`${path}/audit`, admin())).json.logs.map(({ kind }: { kind: string }) => kind);

  const kept = async () => {
    const beside = await room.beside();
    const rows = await beside.sql<KeptRow>`SELECT * FROM kept`;
    await beside.close();
    return rows;
  };

  describe('a retrieval', () => {
    const oneTime = () => create(service(), { payload: 'x', expire_after_views: 1 }, admin().token);

    test('that is sent again gets the response again, and takes one view', async () => {
      const token = await oneTime();
      const first = await get(`pushes/${token}`, withKey(KEY));
      const again = await get(`pushes/${token}`, withKey(KEY));
      expect(first.json).toMatchObject({ payload: 'x', views_remaining: 0, expired: false });
      expect(again.json).toEqual(first.json);
      expect(await kinds(`pushes/${token}`)).toEqual(['creation', 'view']);
      for (const how of [{}, withKey(OTHER)])
        expect((await get(`pushes/${token}`, how)).json.payload).toBeNull();
    });

    test('takes a view of a push that has more of them, and tells its own again', async () => {
      const token = await create(service(), { payload: 'x', expire_after_views: 3 });
      const first = await get(`pushes/${token}`, withKey(KEY));
      expect((await get(`pushes/${token}`, withKey(OTHER))).json.views_remaining).toBe(1);
      expect((await get(`pushes/${token}`)).json.views_remaining).toBe(0);
      expect((await get(`pushes/${token}`, withKey(KEY))).json).toEqual(first.json);
    });

    test('gets it for two minutes, and then it is deleted', async () => {
      const token = await oneTime();
      await get(`pushes/${token}`, withKey(KEY));
      service().clock.advance(2 * MINUTE - 1);
      expect((await get(`pushes/${token}`, withKey(KEY))).json.payload).toBe('x');
      service().clock.advance(1);
      expect(await kept()).toHaveLength(1);
      await service().service.housekeeping.sweep();
      expect(await kept()).toEqual([]);
      expect((await get(`pushes/${token}`, withKey(KEY))).json.payload).toBeNull();
      expect((await get(`pushes/${await oneTime()}`, withKey(KEY))).json.payload).toBe('x');
    });

    test('is answered whenever its two minutes end meanwhile', async () => {
      const clock = testClock();
      let looks = 0;
      const now = () => {
        looks -= 1;
        if (looks === 0) clock.advance(2 * MINUTE);
        return clock.now();
      };
      const one = await testService({ ...room.settings, clock: { ...clock, now } });
      const path = at(`pushes/${await create(one, { payload: 'x', expire_after_views: 50 })}`);
      const got = new Set<string>();
      for (let nth = 1; looks <= 0; nth += 1) {
        const ask = () => call(one, 'GET', path, withKey(`${KEY}-${nth}`));
        looks = Number.POSITIVE_INFINITY;
        const before = (await ask()).json.views_remaining;
        looks = nth;
        const { status, json } = await ask();
        got.add(status === 200 ? `${before - json.views_remaining} more` : `${status}`);
      }
      expect([...got].sort()).toEqual(['0 more', '1 more']);
      await one.close();
    });

    test('gets it no longer than the push was to live', async () => {
      const token = await create(service(), {
        payload: 'x',
        expire_after_views: 1,
        expires_in: 60,
      });
      await get(`pushes/${token}`, withKey(KEY));
      service().clock.advance(MINUTE);
      expect((await get(`pushes/${token}`, withKey(KEY))).json.payload).toBeNull();
    });

    test.each([600, 60])(
      'gets nothing once it did, if the clock is set back (%d s)',
      async (life) => {
        const push = { payload: 'x', expire_after_views: 1, expires_in: life };
        const token = await create(service(), push);
        const read = async () => (await get(`pushes/${token}`, withKey(KEY))).json.payload;
        const got = [await read()];
        service().clock.advance(Math.min(2 * MINUTE, life * 1000));
        got.push(await read());
        service().clock.advance(-5000);
        expect([...got, await read()]).toEqual(['x', null, null]);
      },
    );

    test('gets it where the logs of expired pushes are not kept', async () => {
      const one = await testService({ ...room.settings, clock: service().clock, keepDays: 0 });
      const how = withKey(OTHER, { body: { push: { payload: 'x', expire_after_views: 1 } } });
      const { json } = await call(one, 'POST', at('pushes'), how);
      const read = async () => (await get(`pushes/${json.url_token}`, withKey(KEY))).json.payload;
      const make = async () => (await call(one, 'POST', at('pushes'), how)).json.url_token;
      expect(await read()).toBe('x');
      service().clock.advance(MINUTE);
      await one.service.housekeeping.sweep();
      expect([await read(), await make()]).toEqual(['x', json.url_token]);
      service().clock.advance(9 * MINUTE);
      await one.service.housekeeping.sweep();
      expect((await get(`pushes/${json.url_token}`)).status).toBe(404);
      await one.close();
    });

    test('gets nothing once the push is expired by its owner', async () => {
      const [used, open] = [await oneTime(), await create(service(), { payload: 'x' })];
      for (const [token, key] of [
        [used, KEY],
        [open, OTHER],
      ] as const) {
        await get(`pushes/${token}`, withKey(key));
        await call(service(), 'DELETE', at(`pushes/${token}`), admin());
        expect((await get(`pushes/${token}`, withKey(key))).json.payload).toBeNull();
      }
      expect(await kept()).toEqual([]);
    });

    test('is another one for another push, passphrase, caller or call', async () => {
      const token = await create(service(), { payload: 'x', passphrase: 'y' });
      const path = `pushes/${token}?passphrase=`;
      expect((await get(`${path}y`, withKey(KEY))).status).toBe(200);
      const others = [
        await get(`${path}z`, withKey(KEY)),
        await get(`${path}y`, withKey(KEY, admin())),
        await get(`pushes/${await oneTime()}`, withKey(KEY)),
        await post('pushes', withKey(KEY, { body: { push: { payload: 'x' } } })),
      ];
      expect(others.map(({ status }) => status)).toEqual([422, 422, 422, 422]);
      expect(others[0]?.json.error).toContain('Idempotency-Key');
      expect((await get(`${path}y`, withKey(KEY))).json.views_remaining).toBe(4);
    });

    test('in six copies at once takes one view', async () => {
      const pushes = noted((client, ...how) => call(services[client % 2] as TestService, ...how));
      const token = await pushes.create({ expire_after_views: 1 }, admin());
      const all = await Promise.all(
        [0, 1, 2, 3, 4, 5].map((client) => pushes.retrieve(client, token, { key: KEY })),
      );
      pushes.judge();
      expect(all.map(({ json }) => json.payload)).toEqual(all.map(() => 'x'));
      expect(await kinds(`pushes/${token}`)).toEqual(['creation', 'view']);
    });

    test('that is refused keeps nothing', async () => {
      const token = await create(service(), { payload: 'x', passphrase: 'y' });
      expect((await get(`pushes/${token}?passphrase=z`, withKey(KEY))).status).toBe(401);
      expect(await kept()).toEqual([]);
    });

    test('gets its files again', async () => {
      const form = [filePart('a.txt', 'content'), { name: 'push[expire_after_views]', value: '1' }];
      const { json } = await post('pushes', { form, ...admin() });
      await get(`pushes/${json.url_token}`, withKey(KEY));
      const again = await get(`pushes/${json.url_token}`, withKey(KEY));
      const [file] = again.json.files;
      const content = await call(service(), 'GET', new URL(file.url).pathname);
      expect([file.filename, content.text]).toEqual(['a.txt', 'content']);
    });

    test('is kept so that neither the database nor the instance key opens it', async () => {
      const token = await create(service(), { payload: 'MARKER', expire_after_views: 1 });
      await get(`pushes/${token}`, withKey(KEY));
      await close();
      expect((await room.remains()).includes('MARKER')).toBe(false);
      const [row] = (await kept()) as [KeptRow];
      const file = readFileSync(join(room.settings.data, 'instance.key'), 'utf8').trim();
      const { wrapping, linking } = instanceKey(Buffer.from(file, 'base64'));
      const hash = Buffer.from(row.key_hash, 'base64url');
      const purpose = 'pwpush idempotency key';
      const known = [wrapping, linking, hash, Buffer.from(row.digest), Buffer.from(file, 'base64')];
      const open = (key: Uint8Array) =>
        unseal(key, row.sealed as Uint8Array, 'pwpush kept response').toString();
      for (const key of known.flatMap((one) => [one, derive(one, purpose, 80).subarray(16, 48)]))
        expect(() => open(key)).toThrow();
      expect(open(derive(Buffer.from(KEY), purpose, 80).subarray(16, 48))).toContain('MARKER');
      services = [];
    });
  });

  describe('a creation', () => {
    const body = { push: { payload: 'x', note: 'n', passphrase: 'y' } };
    const files = (content: string) => [
      filePart('a.txt', content),
      { name: 'push[payload]', value: 'x' },
    ];

    test('that is sent again returns the same push and link', async () => {
      const first = await post('pushes', withKey(KEY, { body }));
      const again = await post('pushes', withKey(KEY, { body }));
      expect([first.status, again.status]).toEqual([201, 201]);
      expect(again.json).toEqual(first.json);
      const other = await post('pushes', withKey(KEY, { body: { push: { payload: 'y' } } }));
      expect(other.status).toBe(422);
      expect((await post('pushes', withKey(OTHER, { body }))).json.url_token).not.toBe(
        first.json.url_token,
      );
    });

    test('is done once in six copies, and after a restart', async () => {
      const how = withKey(KEY, { body, ...admin() });
      const all = await copies((one) => call(one, 'POST', at('pushes'), how));
      await close();
      services = [await testService({ ...room.settings, clock: service().clock })];
      const made = [...all, await post('pushes', withKey(KEY, { body, token: admin().token }))];
      // The new start has a token of its own for `admin`.
      expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
      expect(new Set(made.map(({ json }) => json.html_url)).size).toBe(1);
      expect((await get('pushes/active', admin())).json).toHaveLength(1);
    });

    test('with files, too', async () => {
      const how = (content: string) => withKey(KEY, { form: files(content), ...admin() });
      const first = await post('pushes', how('one'));
      expect((await post('pushes', how('one'))).json.html_url).toBe(first.json.html_url);
      expect((await post('pushes', how('two'))).status).toBe(422);
      expect((await get('pushes/active', admin())).json).toHaveLength(1);
    });

    test('that is ended meanwhile is not done again', async () => {
      const first = await post('pushes', withKey(KEY, { body, ...admin() }));
      await call(service(), 'DELETE', at(`pushes/${first.json.url_token}`), admin());
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
      call(one, 'PATCH', at(`requests/${token}/respond`), how);
    const answer = (response: string) => ({ body: { request: { response } } });

    test('is created once', async () => {
      expect(await asked()).toBe(await asked());
      expect((await get('requests/open', admin())).json).toHaveLength(1);
    });

    test('has one answer that is sent six times, and is read as often', async () => {
      const token = await asked();
      const sent = await copies((one) => respond(token, withKey(KEY, answer('42')), one));
      expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 200));
      expect((await respond(token, withKey(KEY, answer('43')))).status).toBe(422);
      expect((await respond(token, answer('42'))).status).toBe(409);
      const key = 'a-third-key-of-22-chars';
      const path = at(`requests/${token}`);
      const read: Answer[] = await copies((one) => call(one, 'GET', path, withKey(key, admin())));
      expect(read.map(({ json }) => json.response)).toEqual(read.map(() => '42'));
      expect(read.map(({ json }) => json)).toEqual(read.map(() => read[0]?.json));
      expect((await get(`requests/${token}`, admin())).json.response).toBeNull();
      const log = await kinds(`requests/${token}`);
      expect(log.filter((kind: string) => kind.startsWith('response'))).toEqual([
        'response',
        'response_view',
      ]);
    });

    test('takes an answer whose copy is still arriving', async () => {
      const token = await asked({ response_file_attachments: true });
      const form = [{ ...filePart('a.txt', 'x'.repeat(1_000_000)), name: 'request[files][]' }];
      const bytes = formBytes(form);
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const copy = service().fetch(
        new Request(`http://pw.test${at(`requests/${token}/respond`)}`, {
          ...{ method: 'PATCH', body: readable, duplex: 'half' },
          headers: { 'content-type': FORM_TYPE, 'idempotency-key': `"${KEY}"` },
        }),
      );
      const sender = writable.getWriter();
      const middle = 900_000;
      // When it takes the last one, the upload has begun.
      for (let sent = 0; sent < middle; sent += 100_000)
        await sender.write(bytes.subarray(sent, sent + 100_000));
      const first = await respond(token, withKey(KEY, { form }));
      await sender.write(bytes.subarray(middle));
      await sender.close();
      expect([first.status, (await copy).status]).toEqual([200, 200]);
      expect(await kinds(`requests/${token}`)).toEqual(['creation', 'response']);
    });

    test('takes the files of an answer once', async () => {
      const token = await asked({ response_file_attachments: true });
      const file = { ...filePart('a.txt', 'content'), name: 'request[files][]' };
      const send = () => respond(token, withKey(KEY, { form: [file] }));
      expect([(await send()).status, (await send()).status]).toEqual([200, 200]);
      const other = { ...file, value: 'another' };
      expect((await respond(token, withKey(KEY, { form: [other] }))).status).toBe(422);
      const { files } = (await get(`requests/${token}`, admin())).json;
      expect(files).toHaveLength(1);
    });
  });

  test.each([
    '"short"',
    'without-any-quotes-at-all',
    `"${'x'.repeat(256)}"`,
    '"a\\b-0123456789abc"',
  ])('a key that is %s is refused', async (value) => {
    const token = await create(service(), { payload: 'x' });
    const { status, json } = await get(`pushes/${token}`, {
      headers: { 'idempotency-key': value },
    });
    expect([status, json.error]).toEqual([400, expect.stringContaining('double quotes')]);
  });
});

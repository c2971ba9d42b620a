import { beforeEach, describe, expect, test } from 'vitest';
import { newKeySalt } from '../../../src/age/key-proof';
import { node } from '../../../src/age/node-primitives';
import type { StoredPush } from '../../../src/server/store/push-rows';
import { proven, shownAt } from '../../helpers/age';
import { at, type Call, filePart, opened, partsOf, type TestService } from '../../helpers/service';
import { inRoom, onEachStore, type Room } from '../../helpers/stores';

const MINUTE = 60_000;
const ONCE = { 'idempotency-key': '"Jk3dF8s-Qw2mZx0pLr7tVg"' };

const { proof: key_proof, payload } = await proven('hunter2');
const proof = shownAt(key_proof);
const wrong = shownAt((await proven('other')).proof);
const salt = newKeySalt(node);
const showing = (given: string) => ({ 'x-key-proof': given });

onEachStore((store) => {
  let room: Room;
  let service: TestService;
  beforeEach(async () => {
    room = await store.room();
    service = await opened(room.settings);
  });

  const get = (token: string, headers: Record<string, string> = {}, how: Call = {}) =>
    service.retrieve(token, { ...how, headers });
  const push = (fields: object = {}, token?: string) =>
    service.create({ payload, key_proof, expire_after_views: 3, ...fields }, token);
  const owned = (fields: object = {}) => push(fields, service.adminToken);
  const submit = (token: string, fields: Record<string, string>, accept = 'text/plain') =>
    service.call('POST', `/p/${token}`, { fields, headers: { accept } });

  describe('a retrieval', () => {
    test('takes a view with the proof, and none without it or with another', async () => {
      const token = await owned();
      for (const headers of [{}, showing(wrong), showing('nonsense'), showing('')]) {
        const { status, json } = await get(token, headers);
        expect([status, json.error]).toEqual([403, 'link_incomplete']);
        expect(json.message).toMatch(/^The end of this link is (missing|wrong): ask for the whole/);
      }
      const { json } = await get(token, showing(proof));
      expect(json).toMatchObject({ payload, views_remaining: 2 });
      expect(await service.kindsOf(token)).toEqual(['creation', 'failed_view 2', 'view']);
      // Its owner needs none, other ones do.
      expect((await get(token, {}, service.asAdmin)).json.payload).toBe(payload);
      const other = await get(token, {}, service.asOther);
      expect(other.json.error).toBe('link_incomplete');
    });

    test('with wrong ones is refused for a minute after five; the right one never', async () => {
      const token = await push();
      const statuses = [];
      for (let time = 0; time < 7; time++) statuses.push((await get(token, showing(wrong))).status);
      expect(statuses).toEqual([403, 403, 403, 403, 403, 429, 429]);
      expect((await get(token)).status).toBe(403);
      expect((await get(token, showing(proof))).status).toBe(200);
      service.clock.advance(MINUTE);
      expect((await get(token, showing(wrong))).status).toBe(403);
    });

    test('that is the last leaves no wrong ones', async () => {
      const token = await push({ expire_after_views: 1 });
      await get(token, showing(wrong));
      const tries = () => inRoom(room, ({ sql }) => sql`SELECT whose FROM tries`);
      expect(await tries()).toHaveLength(1);
      expect((await get(token, showing(proof))).json.payload).toBe(payload);
      expect(await tries()).toEqual([]);
    });

    test('with a hundred missing ones keeps nobody out, and counts none as a wrong one', async () => {
      const token = await owned();
      await get(token);
      expect(await service.kindsOf(token)).toEqual(['creation', 'failed_view 0']);
      await Promise.all(Array.from({ length: 99 }, () => get(token)));
      expect((await get(token, showing(proof))).status).toBe(200);
    });

    test('is refused for the key before the passphrase is looked at', async () => {
      const token = await push({ passphrase: 'y' });
      const path = (passphrase: string) => `${token}?passphrase=${passphrase}`;
      for (const passphrase of ['', 'x', 'y']) {
        const { json } = await get(path(passphrase), showing(wrong));
        expect(json.error).toBe('link_incomplete');
      }
      expect((await get(path('x'), showing(proof))).status).toBe(401);
      expect((await get(path('y'), showing(proof))).json.payload).toBe(payload);
    });

    test('of a push without a proof, or one that expired, needs none', async () => {
      const token = await service.create({ payload });
      for (const headers of [{}, showing(proof)]) expect((await get(token, headers)).json.payload).toBe(payload);
      const ended = await push();
      await service.expire(ended, { headers: showing(proof) });
      expect((await get(ended)).json).toMatchObject({ expired: true, payload: null });
    });

    test('gets a kept response with the proof alone', async () => {
      const token = await push({ expire_after_views: 1 });
      expect((await get(token, { ...ONCE, ...showing(proof) })).json.payload).toBe(payload);
      expect((await get(token, ONCE)).status).toBe(422);
      expect((await get(token, { ...ONCE, ...showing(wrong) })).status).toBe(422);
      expect((await get(token, { ...ONCE, ...showing(proof) })).json.payload).toBe(payload);
    });

    test('of files needs it too', async () => {
      const fields = partsOf({ payload, key_proof });
      const token = await service.createWithFiles(...fields, filePart('1.age', 'x'));
      expect((await get(token)).json).not.toHaveProperty('files');
      expect((await get(token, showing(proof))).json.files).toHaveLength(1);
    });

    test('with words gets the salt to prove them with', async () => {
      const token = await push({ key_salt: salt });
      const { json } = await get(token);
      expect(json).toEqual({
        error: 'link_incomplete',
        message: 'This link opens with key words: ask the sender for them. No view was used.',
        key_salt: salt,
      });
      // Nobody proves anything with the database alone.
      const [row] = await inRoom(room, ({ sql }) => sql<StoredPush>`SELECT * FROM pushes`);
      expect(row).toMatchObject({ key_proof: expect.stringMatching(/^[\w-]+$/), key_salt: salt });
      for (const secret of [proof, key_proof]) expect(JSON.stringify(row)).not.toContain(secret);
      expect((await get(token, showing(proof))).json.payload).toBe(payload);
    });
  });

  describe('a proof', () => {
    /** Shows what was made for that address to the service, in a request to a name of it. */
    const relayed = async (token: string, base: string, name = 'http://pw.test') => {
      const headers = { ...showing(shownAt(key_proof, base)), 'x-forwarded-host': 'evil.example' };
      const response = await service.fetch(new Request(name + at(token), { headers }));
      return [response.status, await response.text()];
    };

    test.each([{}, { trustProxy: true }, { publicUrl: 'http://pw.test/x' }])(
      'that was made for another address takes no view, whatever who relays it says: %j',
      async (settings) => {
        service = await opened({ ...room.settings, ...settings });
        const token = await push();
        for (const base of ['http://evil.example', 'http://pw.test:81', 'http://pw.test/y'])
          for (const name of [new URL(base).origin, 'http://pw.test']) {
            const refused = [403, expect.stringContaining('link_incomplete')];
            expect(await relayed(token, base, name)).toEqual(refused);
            service.clock.advance(MINUTE);
          }
      },
    );

    test('counts at the public address, and at that of the creation, also by https', async () => {
      const publicUrl = 'https://pw.example.com/x';
      service = await opened({ ...room.settings, publicUrl });
      const token = await push({ expire_after_views: 9 });
      const bases = [publicUrl, 'http://pw.test', 'https://pw.test'];
      for (const base of bases) expect((await relayed(token, base))[0]).toBe(200);
    });

    test('at another name of the service tells where the link opens', async () => {
      const token = await push();
      const alias = 'http://alias.test';
      const [status, body] = await relayed(token, alias, alias);
      expect([status, JSON.parse(`${body}`)]).toEqual([
        403,
        {
          error: 'link_incomplete',
          message: 'This link opens at http://pw.test only: open it there. No view was used.',
          opens_at: 'http://pw.test',
        },
      ]);
      const form = new URLSearchParams({ key_proof: shownAt(key_proof, alias) });
      const page = new Request(`${alias}/p/${token}`, { method: 'POST', body: form });
      expect(await (await service.fetch(page)).text()).toContain('It begins with http://pw.test.');
    });

    test('counts at the address of a proxy that ends TLS and names its default port', async () => {
      const names = 'http://pw.test:443';
      const body = JSON.stringify({ push: { payload, key_proof } });
      const headers = { 'content-type': 'application/json' };
      const made = new Request(`${names}/api/v2/pushes`, { method: 'POST', body, headers });
      const { url_token } = (await (await service.fetch(made)).json()) as { url_token: string };
      expect((await relayed(url_token, 'https://pw.test', names))[0]).toBe(200);
    });
  });

  test('other requests for the link use no view', async () => {
    const token = await owned({ retrieval_step: false, expire_after_views: 1 });
    const paths = [...['', '/r', '.json'].map((end) => `/p/${token}${end}`), at(token, '/preview')];
    for (const accept of ['text/html', 'text/plain', '*/*', 'application/json'])
      for (const method of ['GET', 'HEAD'])
        for (const path of paths) await service.call(method, path, { headers: { accept } });
    expect((await submit(token, {})).status).toBe(403);
    expect((await submit(token, {}, 'text/html')).status).toBe(403);
    expect((await submit(token, { key_proof: wrong }, 'application/json')).status).toBe(403);
    const taken = await submit(token, { key_proof: proof });
    expect([taken.status, taken.text]).toEqual([200, payload]);
  });

  test('an expiry by a viewer needs what a view needs, and its owner needs nothing', async () => {
    const expire = async (token: string, headers = {}, how: Call = {}) => {
      const { status, json } = await service.expire(token, { ...how, headers });
      return [status, json.error ?? json.expired];
    };
    const token = await owned({ passphrase: 'y' });
    for (const headers of [{}, showing(wrong)]) {
      expect(await expire(token, headers)).toEqual([403, 'link_incomplete']);
      expect((await submit(token, { do: 'expire', passphrase: 'y' })).status).toBe(403);
    }
    for (const path of [token, `${token}.json`, `${token}?passphrase=x`])
      expect((await expire(path, showing(proof)))[0]).toBe(401);
    expect((await submit(token, { do: 'expire', key_proof: proof })).status).toBe(401);
    expect((await get(token, {}, service.asOther)).json.error).toBe('link_incomplete');
    expect(await expire(`${token}?passphrase=y`, showing(proof))).toEqual([200, true]);
    expect(await expire(await owned({ passphrase: 'y' }), {}, service.asAdmin)).toEqual([200, true]);
    const fields = { do: 'expire', passphrase: 'y', key_proof: proof };
    expect((await submit(await push({ passphrase: 'y' }), fields)).status).toBe(200);
  });

  test.each([
    ['a proof', {}, showing(proof)],
    ['a passphrase', { key_proof: undefined, passphrase: 'y' }, undefined],
  ])('an expiry without %s ends no response or file of the last view', async (_, fields, shown) => {
    const form = partsOf({ payload, key_proof, expire_after_views: 1, ...fields });
    const parts = form.filter(({ value }) => value !== 'undefined');
    const token = await service.createWithFiles(...parts, filePart('1.age', 'x'));
    const retrieve = async () => (await get(`${token}?passphrase=y`, { ...ONCE, ...shown })).json.files?.[0]?.url;
    const url = await retrieve();
    const fetched = async () => (await service.fetchLink(url)).status;
    for (const headers of [{}, showing(wrong)])
      expect((await service.expire(token, { headers })).json.expired).toBe(true);
    expect(await retrieve()).toBe(url);
    expect(await fetched()).toBe(200);
    await service.expire(token, shown ? { headers: shown } : service.asAdmin);
    expect(await fetched()).toBe(404);
  });
});

import { beforeEach, describe, expect, test } from 'vitest';
import { Owners } from '../../../src/server/owners/owners';
import { insertTrust } from '../../../src/server/trust/trust-rows';
import { Trusts } from '../../../src/server/trust/trusts';
import { at, opened, type TestService, testClock } from '../../helpers/service';
import { inRoom, onEachStore, type Room } from '../../helpers/stores';

const DAY = 86_400_000;
const ONCE = { headers: { 'idempotency-key': '"Jk3dF8s-Qw2mZx0pLr7tVg"' } };

let service: TestService;
let room: Room;

const request = (token: string, rest = '') => `/api/v2/requests/${token}${rest}`;
const statusOf = async (token: string) => (await service.call('GET', at('active'), { token })).status;

/** Makes a token of the owner `bob` that can push only. */
async function pusher() {
  const { token } = await service.service.owners.add('bob', 'ci', { scope: 'push' });
  return { token };
}

async function createAs(how: { readonly token: string }) {
  const { json } = await service.call('POST', at(''), {
    ...how,
    body: { push: { payload: 'x', deletable_by_viewer: false } },
  });
  return json.url_token as string;
}

async function askAs(how: { readonly token: string }) {
  const { json } = await service.call('POST', request(''), { ...how, body: { request: { request: 'which?' } } });
  return json.url_token as string;
}

/** Makes a trust in the database of the service; returns a function that gives one of its tokens. */
async function trusted(name: string, fields: object = {}) {
  return inRoom(room, async (database) => {
    const [bob] = await database.sql<{ id: number }>`SELECT id FROM owners WHERE name = 'bob'`;
    const row = {
      name,
      issuer: 'https://issuer.test',
      audience: null,
      claims: {},
      owner_id: bob?.id as number,
      scope: 'push' as const,
      lifetime: 600,
      private_issuer: false,
      maker: `maker of ${name}`,
      created_at: service.clock.now().getTime(),
      ...fields,
    };
    await database.transaction((sql) => insertTrust(sql, row));
    const trust = (await new Trusts(database, service.clock.now).all()).find((one) => one.name === name);
    return (subject: string) =>
      inRoom(room, (beside) => {
        const owners = new Owners(beside, service.clock.now);
        return owners.grant(trust as NonNullable<typeof trust>, subject);
      });
  });
}

onEachStore((store) => {
  beforeEach(async () => {
    room = await store.room();
    service = await opened(room.settings);
  });

  describe('a token of scope push', () => {
    test('reaches what it created, and nothing that others of its owner created', async () => {
      const ci = await pusher();
      const own = await createAs(ci);
      expect((await service.call('GET', at(own, '/preview'), ci)).json).toMatchObject({ expired: false });
      expect((await service.call('GET', at(own, '/audit'), ci)).json.logs).toMatchObject([{ kind: 'creation' }]);
      const others = [await createAs(service.asOther), await createAs(await pusher())];
      for (const other of others) {
        const refused = { status: 403, json: { error: 'This token reaches only what it created.', scope: 'push' } };
        expect(await service.call('GET', at(other, '/audit'), ci)).toMatchObject(refused);
        expect(await service.expire(other, ci)).toMatchObject(refused);
        expect((await service.call('GET', at(other, '/preview'), ci)).json).toEqual({ url: expect.anything() });
      }
      expect((await service.expire(own, ci)).json).toMatchObject({ expired: true, deleted: true });
      // A token of scope all of the same owner reaches what it created.
      const [, theirs = ''] = others;
      expect((await service.expire(theirs, service.asOther)).json).toMatchObject({ deleted: true });
      // What anyone with the link may end, it may, too.
      const open = await service.create({ payload: 'x' }, service.otherToken);
      expect((await service.expire(open, ci)).json).toMatchObject({ deleted: true });
    });

    test('lists nothing, which is said in words and in a field', async () => {
      const ci = await pusher();
      await createAs(ci);
      const paths = [
        ...['active', 'expired'].map((state) => at(state)),
        ...['open', 'ready', 'closed', 'active'].map((state) => request(state)),
      ];
      for (const path of paths) {
        const { status, json } = await service.call('GET', path, ci);
        expect([status, json]).toEqual([403, { error: 'This token can push only.', scope: 'push' }]);
      }
    });

    test('uses a view of a push as anyone does, also of what it created', async () => {
      const ci = await pusher();
      const [own, other] = [await createAs(ci), await createAs(service.asOther)];
      for (const token of [own, other])
        expect((await service.retrieve(token, ci)).json).toMatchObject({ payload: 'x', views_remaining: 4 });
      expect(await service.logOf(own).catch(() => undefined)).toBeUndefined();
      const { json } = await service.call('GET', at(own, '/audit'), ci);
      expect(json.logs).toMatchObject([{ kind: 'creation' }, { kind: 'view' }]);
    });

    test('takes the answers of its own requests only, and closes only these', async () => {
      const ci = await pusher();
      const [own, other] = [await askAs(ci), await askAs(service.asOther)];
      for (const token of [own, other]) await service.respond(token, 'hunter2');
      expect((await service.call('GET', request(other), ci)).json).toMatchObject({ request: 'which?', response: null });
      expect((await service.call('DELETE', request(other), ci)).status).toBe(403);
      expect((await service.call('GET', request(own, '/preview'), ci)).json).toMatchObject({
        ...{ state: 'ready', name: '', close_after: expect.any(Number) },
      });
      expect((await service.call('GET', request(own), ci)).json).toMatchObject({ response: 'hunter2' });
      expect((await service.call('DELETE', request(await askAs(ci)), ci)).json).toMatchObject({ state: 'closed' });
    });

    test('takes an answer at the page of its own request only', async () => {
      const ci = await pusher();
      const read = async (how: { readonly token: string }) => {
        const token = await askAs(how);
        await service.respond(token, 'hunter2');
        const fields = { 'request[api_token]': ci.token };
        return (await service.call('POST', `/r/${token}`, { fields })).text.includes('hunter2');
      };
      expect([await read(ci), await read(service.asOther)]).toEqual([true, false]);
    });

    test('gets nothing for an Idempotency-Key that another token of its owner has used', async () => {
      const ci = await pusher();
      const body = { push: { payload: 'x' } };
      const first = await service.call('POST', at(''), { ...service.asOther, ...ONCE, body });
      const second = await service.call('POST', at(''), { ...ci, ...ONCE, body });
      expect([first.status, second.status]).toEqual([201, 422]);
      const last = await service.create({ payload: 'x', expire_after_views: 1 }, ci.token);
      const key = { headers: { 'idempotency-key': '"Kk3dF8s-Qw2mZx0pLr7tVg"' } };
      expect((await service.retrieve(last, { ...ci, ...key })).json.payload).toBe('x');
      expect((await service.retrieve(last, { ...ci, ...key })).json.payload).toBe('x');
      expect((await service.retrieve(last, { ...service.asOther, ...key })).status).toBe(422);
    });

    test('hands on what it reaches to the token that replaces it', async () => {
      const { owners } = service.service;
      const old = await owners.add('carol', 'ci', { scope: 'push', lifetime: 90 * 86_400 });
      const own = await createAs(old);
      const made = await owners.replace(old.id);
      expect(made).toMatchObject({ scope: 'push', label: 'ci', expires_at: '2026-11-18T11:06:45.000Z' });
      expect((await service.expire(own, { token: made?.token ?? '' })).status).toBe(200);
    });
  });

  describe('a token that ends', () => {
    test('is refused from then on, with that time, and is not listed', async () => {
      const { owners } = service.service;
      const { token, id } = await owners.add('bob', '', { lifetime: 60 });
      service.clock.advance(59_999);
      expect(await statusOf(token)).toBe(200);
      service.clock.advance(1);
      const { status, headers, json } = await service.call('GET', at('active'), { token });
      expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(json).toEqual({ error: 'That token expired at 2026-08-20T11:07:45.000Z.' });
      expect((await owners.list()).map((one) => one.id)).not.toContain(id);
    });

    test('does so by the clock of the database, at a service whose clock is ahead, too', async () => {
      const [serverClock, clock] = [testClock(), testClock()];
      clock.advance(120_000);
      const ahead = await opened({ ...room.settings, clock, serverClock });
      const { token, expires_at } = await ahead.service.owners.add('bob', '', { lifetime: 60 });
      expect(expires_at).toBe('2026-08-20T11:07:45.000Z');
      const statuses = async () => [(await ahead.call('GET', at('active'), { token })).status, await statusOf(token)];
      const pass = (milliseconds: number) => {
        for (const one of [serverClock, clock, service.clock]) one.advance(milliseconds);
      };
      pass(59_999);
      expect(await statuses()).toEqual([200, 200]);
      pass(1);
      expect(await statuses()).toEqual([401, 401]);
    });

    test('keeps its own end when it is replaced again, after the first replacement was lost', async () => {
      const { owners } = service.service;
      const old = await owners.add('bob', '', { lifetime: 7200 });
      await owners.revoke((await owners.replace(old.id))?.id ?? '');
      expect(await owners.replace(old.id)).toMatchObject({ expires_at: '2026-08-20T13:06:45.000Z' });
    });

    test('is swept after 90 days, one of a trust after a day, and one that was replaced at once', async () => {
      const { owners, housekeeping } = service.service;
      const grant = await trusted('ci');
      const [plain, given] = [await owners.add('bob', '', { lifetime: 600 }), await grant('job')];
      const replaced = await owners.add('bob');
      await owners.replace(replaced.id);
      const kept = async () => {
        await housekeeping.sweep();
        const tokens = [plain, given, replaced].map(async ({ token }) => {
          const { json } = await service.call('GET', at('active'), { token });
          return /expired/.test(json.error);
        });
        return Promise.all(tokens);
      };
      service.clock.advance(3_600_000);
      expect(await kept()).toEqual([true, true, false]);
      service.clock.advance(DAY - 3_000_000 - 1);
      expect(await kept()).toEqual([true, true, false]);
      service.clock.advance(1);
      expect(await kept()).toEqual([true, false, false]);
      service.clock.advance(89 * DAY);
      expect(await kept()).toEqual([false, false, false]);
    });
  });

  describe('the tokens of a trust', () => {
    test('are one row of the list, however many there are, and end with the trust alone', async () => {
      const { owners } = service.service;
      const grant = await trusted('ci');
      const first = await grant('first');
      service.clock.advance(60_000);
      const second = await grant('second');
      expect(second).toMatchObject({ scope: 'push', expires_at: '2026-08-20T11:17:45.000Z' });
      const row = { id: 'trust:ci', name: 'bob', trust: 'ci', scope: 'push', tokens: 2, label: '' };
      const times = { created_at: '2026-08-20T11:07:45.000Z', expires_at: '2026-08-20T11:17:45.000Z' };
      const own = (await owners.list()).filter(({ name }) => name === 'bob');
      expect(own).toMatchObject([
        { trust: null, tokens: 1 },
        { ...row, ...times, last_used_at: null },
      ]);
      await expect(owners.revoke('trust:ci')).rejects.toMatchObject({
        ...{ code: 'usage', hint: 'use pwpush serve trust remove ci' },
      });
      expect(await owners.replace(first.id)).toBeUndefined();
      expect(await owners.revoke('bob')).toEqual({ name: 'bob', revoked: 3, trusts: ['ci'] });
    });

    test('reach what the others of that trust created, and not that of another trust', async () => {
      const [ci, other] = [await trusted('ci'), await trusted('other')];
      const own = await createAs(await ci('push'));
      const auditAs = async (how: { readonly token: string }) =>
        (await service.call('GET', at(own, '/audit'), how)).status;
      expect([await auditAs(await ci('expire')), await auditAs(await other('expire'))]).toEqual([200, 403]);
    });

    test('are named in the log of a push, with the subject, each in an entry of its own', async () => {
      const grant = await trusted('ci', { scope: 'all' });
      const [first, second] = [await grant('repo:org/app\u001b[31m'), await grant('x'.repeat(300))];
      const own = await createAs(first);
      for (const how of [first, first, second, service.asOther]) await service.retrieve(own, how);
      const { logs } = (await service.call('GET', at(own, '/audit'), service.asOther)).json;
      const of = (sub: string) => ({ trust: 'ci', sub });
      expect(logs).toEqual([
        expect.objectContaining({ kind: 'creation', ...of('repo:org/app\u001b[31m') }),
        expect.objectContaining({ kind: 'owner_view', count: 2, ...of('repo:org/app\u001b[31m') }),
        expect.objectContaining({ kind: 'owner_view', ...of(`${'x'.repeat(254)}…`) }),
        expect.not.objectContaining({ trust: expect.anything() }),
      ]);
      expect(Object.keys(logs[3])).not.toContain('trust');
    });
  });

  test('the version says what a valid token may do, and nothing of another', async () => {
    const { owners } = service.service;
    const tokenIn = async (token: string) => (await service.call('GET', '/api/v2/version', { token })).json.token;
    expect(await tokenIn(service.adminToken)).toEqual({ scope: 'all', expires_at: null });
    const { token } = await owners.add('bob', '', { scope: 'push', lifetime: 60 });
    expect(await tokenIn(token)).toEqual({ scope: 'push', expires_at: '2026-08-20T11:07:45.000Z' });
    service.clock.advance(60_000);
    expect([await tokenIn(token), await tokenIn('pwp_x')]).toEqual([undefined, undefined]);
  });
});

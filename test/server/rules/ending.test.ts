import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openForOperator } from '../../../src/server/open-service';
import { at, filePart, opened, type TestService } from '../../helpers/service';
import { inRoom, onEachStore, type Room } from '../../helpers/stores';

type OperatorData = Awaited<ReturnType<typeof openForOperator>>;

const OPERATOR = { ip: null, user_agent: 'operator (pwpush serve)' };

async function all<T>(pages: AsyncIterable<T[]>): Promise<T[]> {
  const rows: T[] = [];
  for await (const page of pages) rows.push(...page);
  return rows;
}

onEachStore((store) => {
  let room: Room;
  let service: TestService;
  let data: OperatorData;

  beforeEach(async () => {
    room = await store.room();
    service = await opened(room.settings);
    data = await openForOperator(room.settings, service.clock);
    onTestFinished(data.close);
  });

  const idsOf = async (user?: string) => (await all(data.operator.open(user))).map(({ id }) => id);

  describe('what is open', () => {
    test('is listed by numbers that open nothing, oldest first, for all or for one', async () => {
      await service.create({ payload: 'x', expire_after_views: 3 });
      const viewed = await service.createOwn({ name: 'db1', expire_after_views: 3 });
      await service.retrieve(viewed);
      const asked = await service.createRequest();
      await service.respond(asked, 'x');
      for (const ended of [await service.createOwn(), await service.createOwn()])
        await service.expire(ended, service.asAdmin);
      const rows = await all(data.operator.open());
      const times = { created_at: '2026-08-20T11:06:45.000Z', expires_at: expect.any(String) };
      const [anonymous, own, request] = [
        { kind: 'text', owner: null, name: '', views_remaining: 3 },
        { kind: 'text', owner: 'admin', name: 'db1', views_remaining: 2 },
        { kind: 'request', owner: 'admin', name: '', views_remaining: null },
      ].map((row) => ({ id: expect.any(Number), ...times, ...row }));
      expect(rows).toEqual([anonymous, own, request]);
      expect(await all(data.operator.open('admin'))).toEqual(rows.slice(1));
      expect(await data.operator.countOpen('admin')).toEqual({ pushes: 1, requests: 1 });
      for (const { id } of rows) expect((await service.retrieve(`${id}`)).status).toBe(404);
      expect(await all(data.operator.open('bob'))).toEqual([]);
      // They are over before a sweep has ended them.
      service.clock.advance(100 * 86_400_000);
      expect(await all(data.operator.open())).toEqual([]);
    });

    test('comes in pages, however much it is', async () => {
      await service.createOwn();
      await inRoom(room, async ({ sql }) => {
        for (let i = 0; i < 10; i += 1)
          await sql`
            INSERT INTO pushes (lookup, sealed_token, link_key, owner_id, kind, name,
              expire_after_days, expire_after_views, views, deletable_by_viewer, retrieval_step,
              protected, deleted, created_at, updated_at, expires_at)
            SELECT lookup || ${i} || id, sealed_token, link_key, owner_id, kind, name,
              expire_after_days, expire_after_views, views, deletable_by_viewer, retrieval_step,
              protected, deleted, created_at, updated_at, expires_at FROM pushes`;
      });
      const sizes: number[] = [];
      for await (const rows of data.operator.open('admin')) sizes.push(rows.length);
      expect(sizes).toEqual([500, 500, 24]);
    });

    test.each(['open', 'countOpen', 'expireOf'] as const)('%s knows its users', async (method) => {
      const asked = async () => (method === 'open' ? all(data.operator.open('eve')) : data.operator[method]('eve'));
      await expect(asked()).rejects.toMatchObject({ message: 'no user "eve"', code: 'not_found' });
    });
  });

  describe('a push that the operator ends', () => {
    test('is gone while the service runs, and its log says who ended it', async () => {
      const token = await service.createWithFiles(filePart('a', 'x'));
      const { json } = await service.retrieve(token);
      const [id] = await idsOf();
      expect(await data.operator.expire(id as number)).toBe('pushes');
      const { json: after } = await service.retrieve(token, service.asAdmin);
      expect(after).toMatchObject({ expired: true, deleted: true, payload: null });
      expect((await service.fetchLink(json.files[0].url)).status).toBe(404);
      const [, , ended] = await service.logOf(token);
      expect(ended).toMatchObject({ kind: 'expire', ...OPERATOR });
      await inRoom(room, async ({ sql }) => expect(await sql`SELECT push_id FROM secrets`).toEqual([]));
      expect([await data.operator.expire(id as number), await data.operator.expire(99)]).toEqual([
        'nothing',
        undefined,
      ]);
      expect((await service.logOf(token)).filter(({ kind }) => kind === 'expire')).toHaveLength(1);
    });

    test('or a request is found by its link, with the instance key alone', async () => {
      const [token, asked] = [await service.create({ payload: 'x' }), await service.createRequest()];
      const ids = await idsOf();
      expect([await data.operator.idOf(token), await data.operator.idOf(asked)]).toEqual(ids);
      expect(await data.operator.idOf('a'.repeat(19))).toBeUndefined();
      const instanceKeyFile = `${room.settings.data}/other.key`;
      const keyless = await openForOperator({ ...room.settings, instanceKeyFile }, service.clock);
      onTestFinished(keyless.close);
      await expect(keyless.operator.idOf(token)).rejects.toThrow('other.key" is missing');
      expect(await keyless.operator.expire(ids[0] as number)).toBe('pushes');
    });

    test('takes its last response with it, and its files', async () => {
      const once = { headers: { 'idempotency-key': '"Jk3dF8s-Qw2mZx0pLr7tVg"' } };
      const token = await service.createWithFiles(filePart('a', 'x'), { name: 'push[expire_after_views]', value: '1' });
      const [id] = await idsOf();
      const { json } = await service.retrieve(token, once);
      expect(await data.operator.expire(id as number)).toBe('nothing');
      expect((await service.retrieve(token, once)).json).toMatchObject({ expired: true });
      expect((await service.fetchLink(json.files[0].url)).status).toBe(404);
    });

    test('a request is closed with its answer, which has no number of its own', async () => {
      const asked = await service.createRequest();
      await service.respond(asked, 'x');
      const [id = 0] = await idsOf();
      expect(await data.operator.expire(id + 1)).toBeUndefined();
      expect(await data.operator.expire(id)).toBe('requests');
      const log = await service.logOf(asked, 'requests');
      expect(log.at(-1)).toMatchObject({ kind: 'close', ...OPERATOR });
      const { json } = await service.call('GET', `/api/v2/requests/${asked}`, service.asAdmin);
      expect(json).toMatchObject({ state: 'closed', response: null });
    });
  });

  test('all that a user left ends, and nothing of others, with tokens or without', async () => {
    const { token } = await data.owners.add('carol');
    const left = await Promise.all(Array.from({ length: 10 }, () => service.create({ payload: 'x' }, token)));
    await service.call('POST', '/api/v2/requests', { token, body: { request: { request: 'x' } } });
    const own = await service.createOwn();
    const ids = await data.owners.list();
    const { id = '' } = ids.find(({ name }) => name === 'carol') ?? {};
    await expect(data.owners.revoke(id, true)).rejects.toMatchObject({
      message: `"${id}" is the ID of one token of carol`,
      code: 'usage',
    });
    await expect(data.owners.revoke('1a2b3c4d', true)).rejects.toMatchObject({
      message: 'no token or user "1a2b3c4d"',
      code: 'not_found',
    });
    expect((await service.call('GET', at('active'), { token })).status).toBe(200);
    expect(await data.owners.revoke('carol', true)).toEqual({ name: 'carol', revoked: 1, trusts: [] });
    expect(await data.operator.expireOf('carol')).toEqual({ pushes: 10, requests: 1 });
    for (const one of left) expect((await service.retrieve(one)).json.expired).toBe(true);
    expect((await service.retrieve(own)).json.expired).toBe(false);
    expect(await data.operator.expireOf('carol')).toEqual({ pushes: 0, requests: 0 });
  });

  test('each of many views at that moment is given whole, or not used', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => service.createOwn()));
    const [ended, ...seen] = await Promise.all([
      data.operator.expireOf('admin'),
      ...tokens.map((token) => service.retrieve(token)),
    ]);
    expect(ended.pushes).toBe(20);
    for (const [index, { json }] of seen.entries()) {
      const kinds = await service.kindsOf(tokens[index] as string);
      expect(kinds.includes('view')).toBe(json.payload === 'x');
      expect([json.payload, json.expired]).toEqual(json.expired ? [null, true] : ['x', false]);
    }
  });
});

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openForOperator } from '../../../src/server/open-service';
import { ServiceError } from '../../../src/server/service-errors';
import { at, opened, type TestClock, type TestService, testClock } from '../../helpers/service';
import { onEachStore, type Room } from '../../helpers/stores';

async function ownersIn({ settings }: Pick<Room, 'settings'>, clock: TestClock = testClock()) {
  const { owners, close } = await openForOperator(settings, clock);
  onTestFinished(close);
  return owners;
}

let service: TestService;
const active = (token?: string, headers = {}) =>
  service.call('GET', at('active'), { headers, ...(token === undefined ? {} : { token }) });

const statusOf = async (token = '') => (await active(token)).status;
const byId = (one: { id?: string | undefined }, other: { id?: string | undefined }) =>
  `${one.id}` < `${other.id}` ? -1 : 1;

onEachStore((store) => {
  let room: Room;

  beforeEach(async () => {
    room = await store.room();
    service = await opened(room.settings);
  });

  describe('owners beside a running service', () => {
    test('a token that another process makes or revokes takes effect at once', async () => {
      const owners = await ownersIn(room);
      const { token } = await owners.add('carol');
      expect(token).toMatch(/^pwp_[\w-]{43}$/);
      expect((await active(token)).status).toBe(200);
      expect(await owners.revoke('carol')).toEqual({ name: 'carol', revoked: 1, trusts: [] });
      expect((await active(token)).status).toBe(401);
      for (const name of ['carol', 'nobody'])
        expect(await owners.revoke(name)).toEqual({ name, revoked: 0, trusts: [] });
      expect((await active(service.adminToken)).status).toBe(200);
    });

    test('an owner has as many tokens as were made, and one set of pushes', async () => {
      const owners = await ownersIn(room);
      const { id, token: second } = await owners.add(' bob ', ' ci ');
      await service.create({ payload: 'x' }, service.otherToken);
      expect((await active(second)).json).toHaveLength(1);
      const listed = expect.objectContaining({ id, name: 'bob', label: 'ci' });
      expect(await owners.list()).toContainEqual(listed);
      expect(createHash('sha256').update(second).digest('hex').startsWith(id)).toBe(true);
      expect(await owners.revoke(id)).toEqual({ name: 'bob', revoked: 1, trusts: [] });
      expect([await statusOf(second), await statusOf(service.otherToken)]).toEqual([401, 200]);
      await owners.add('bob');
      expect(await owners.revoke('bob')).toEqual({ name: 'bob', revoked: 2, trusts: [] });
    });

    test('the list says who there is and when a token was last used', async () => {
      const { owners } = service.service;
      service.clock.advance(90_000);
      await active(service.otherToken);
      // That use is noted beside the request.
      await expect
        .poll(async () => (await owners.list())[1]?.last_used_at, { message: 'the use is noted' })
        .not.toBeNull();
      service.clock.advance(59_000);
      await active(service.otherToken);
      const made = {
        id: expect.stringMatching(/^[\da-f]{8}$/),
        label: '',
        scope: 'all',
        trust: null,
        tokens: 1,
        expires_at: null,
        created_at: '2026-08-20T11:06:45.000Z',
      };
      expect(await owners.list()).toEqual([
        { ...made, name: 'admin', last_used_at: null },
        { ...made, name: 'bob', last_used_at: '2026-08-20T11:08:15.000Z' },
      ]);
      service.clock.advance(1000);
      await active(service.otherToken);
      await expect
        .poll(async () => (await owners.list())[1]?.last_used_at, { message: 'the use is noted' })
        .toBe('2026-08-20T11:09:15.000Z');
    });
  });

  describe('a token that is replaced', () => {
    let owners: Awaited<ReturnType<typeof ownersIn>>;
    let old: { readonly id: string; readonly token: string };

    beforeEach(async () => {
      owners = await ownersIn(room, service.clock);
      old = await owners.add('carol', 'ci');
    });

    test('works until the new one is used', async () => {
      const made = await owners.replace(old.id);
      expect(made).toMatchObject({ name: 'carol', label: 'ci' });
      expect(await owners.list()).toMatchObject([
        ...[{ name: 'admin' }, { name: 'bob' }],
        ...[{ id: old.id, expires_at: '2026-08-20T12:06:45.000Z' }, { id: made?.id }].sort(byId),
      ]);
      expect([await statusOf(old.token), await statusOf(made?.token)]).toEqual([200, 200]);
      // That is noted beside the request.
      await expect.poll(() => statusOf(old.token), { message: 'the old token ends' }).toBe(401);
      expect(await statusOf(made?.token)).toBe(200);
      expect((await owners.list()).at(-1)).toMatchObject({ id: made?.id, expires_at: null });
    });

    test('works for an hour at most, and is gone with the next one that is made', async () => {
      await owners.replace(old.id);
      service.clock.advance(3_599_999);
      expect(await statusOf(old.token)).toBe(200);
      service.clock.advance(1);
      expect(await statusOf(old.token)).toBe(401);
      expect(await owners.replace(old.id)).toBeUndefined();
      expect((await owners.list()).filter(({ id }) => id === old.id)).toEqual([]);
    });

    test('is not replaced by two, however many processes try', async () => {
      const others = [owners, await ownersIn(room, service.clock)];
      const made = await Promise.allSettled(others.map((one) => one.replace(old.id)));
      const [won] = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      const lost = made.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      expect(lost).toMatchObject([{ message: `${old.id} is being replaced by ${won?.id}, which was not used yet` }]);
      // The token of a replacement that was lost is revoked, and another one made.
      await owners.revoke(won?.id ?? '');
      expect((await owners.replace(old.id))?.id).not.toBe(won?.id);
      expect(await statusOf(won?.token)).toBe(401);
    });

    test('can be revoked at once', async () => {
      const made = await owners.replace(old.id);
      await owners.revoke(old.id);
      expect([await statusOf(old.token), await statusOf(made?.token)]).toEqual([401, 200]);
      expect(await owners.replace('nosuchid')).toBeUndefined();
    });
  });

  test('admin is made on the first start only, and not beside another user', async () => {
    const firstOf = async (...names: string[]) => {
      const fresh = await store.room();
      const { owners, close } = await openForOperator(fresh.settings, testClock(), true);
      onTestFinished(close);
      for (const name of names) await owners.add(name);
      return { owners, token: await owners.addFirst() };
    };
    expect((await firstOf('carol')).token).toBeUndefined();
    const { owners, token } = await firstOf();
    expect(token).toMatch(/^pwp_/);
    expect(await owners.addFirst()).toBeUndefined();
    await owners.revoke('admin');
    expect(await owners.addFirst()).toBeUndefined();
  });
});

describe('tokens and names', () => {
  beforeEach(async () => {
    service = await opened();
  });

  test.each(['', '  ', 'a\nb', 'a\u202eb', 'x'.repeat(256), '3F2a91c0', 'Trust:ci'])('%j is no name', async (name) => {
    const error = await service.service.owners.add(name).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ServiceError);
    expect((error as ServiceError).code).toBe('usage');
  });

  test.each(['a\nb', 'x'.repeat(256)])('%j is no label', async (label) => {
    const most = 'x'.repeat(255);
    expect(await service.service.owners.add(most, most)).toMatchObject({ name: most, label: most });
    await expect(service.service.owners.add('bob', label)).rejects.toThrow('a label must be');
  });

  const wrong = ['Bearer', 'Bearer ', 'bearer nonsense', 'Bearer pwp_', 'Bearer \u00e9'];
  test.each(wrong)('%j is refused', async (authorization) => {
    const { status, headers } = await active(undefined, { authorization });
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });

  test('another scheme, as a proxy may want one, is not ours', async () => {
    const headers = { authorization: 'Basic dTpw' };
    expect((await service.call('GET', '/api/v2/version', { headers })).status).toBe(200);
    expect((await active(undefined, headers)).status).toBe(401);
  });
});

test('nothing makes a database unless it is asked for, which it says', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pwpush-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const data = join(folder, 'nowhere', 'data');
  const open = (create?: boolean) => openForOperator({ data }, testClock(), create);
  for (const create of [undefined, false]) {
    const error = await open(create).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ServiceError);
    expect((error as ServiceError).message).toBe(`no database in "${data}"`);
  }
  expect(existsSync(data)).toBe(false);
  for (const created of [true, false]) {
    const made = await open(true);
    onTestFinished(made.close);
    expect(made.created).toBe(created);
  }
});

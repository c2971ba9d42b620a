import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openOwners, openService } from '../../../src/server/open-service';
import { ServiceError } from '../../../src/server/service-errors';
import { at, defaults, opened, type TestService, testClock } from '../../helpers/service';
import { onEachStore, type Room } from '../../helpers/stores';

/** The owners of those data, as a command beside a service has them. */
async function ownersIn({ settings }: Pick<Room, 'settings'>) {
  const owners = await openOwners(settings, testClock());
  onTestFinished(() => owners.close());
  return owners;
}

let service: TestService;
const active = (token?: string, headers = {}) =>
  service.call('GET', at('active'), { headers, ...(token === undefined ? {} : { token }) });

onEachStore((store) => {
  let room: Room;

  beforeEach(async () => {
    room = await store.room();
    service = await opened(room.settings);
  });

  describe('owners beside a running service', () => {
    test('a token that another process makes or revokes takes effect at once', async () => {
      const owners = await ownersIn(room);
      const token = await owners.add('carol');
      expect(token).toMatch(/^pwp_[\w-]{43}$/);
      expect((await active(token)).status).toBe(200);
      expect(await owners.revoke('carol')).toBe(1);
      expect((await active(token)).status).toBe(401);
      expect([await owners.revoke('carol'), await owners.revoke('nobody')]).toEqual([0, 0]);
      expect((await active(service.adminToken)).status).toBe(200);
    });

    test('an owner has as many tokens as were made, and one set of pushes', async () => {
      const owners = await ownersIn(room);
      const second = await owners.add(' bob ');
      await service.create({ payload: 'x' }, service.otherToken);
      expect((await active(second)).json).toHaveLength(1);
      expect(await owners.revoke('bob')).toBe(2);
    });

    test('the list says who there is and when a token was last used', async () => {
      const { owners } = service.service;
      service.clock.advance(90_000);
      await active(service.otherToken);
      // That use is noted beside the request.
      await expect.poll(async () => (await owners.list())[1]?.last_used_at).not.toBeNull();
      service.clock.advance(59_000);
      await active(service.otherToken);
      const made = { created_at: '2026-08-20T11:06:45.000Z', tokens: 1 };
      expect(await owners.list()).toEqual([
        { name: 'admin', ...made, last_used_at: null },
        { name: 'bob', ...made, last_used_at: '2026-08-20T11:08:15.000Z' },
      ]);
    });
  });

  test('admin is made on the first start, others or not, and on that only', async () => {
    const fresh = await store.room();
    await (await ownersIn(fresh)).add('carol', true);
    const io = { log: () => {}, warn: () => {}, now: () => new Date(), version: '0' };
    const { owners, close } = await openService(
      { ...defaults, ephemeral: false, ...fresh.settings },
      io,
    );
    expect(await owners.addFirst()).toMatch(/^pwp_/);
    expect(await owners.addFirst()).toBeUndefined();
    await owners.revoke('admin');
    expect(await owners.addFirst()).toBeUndefined();
    await close();
  });
});

describe('tokens and names', () => {
  beforeEach(async () => {
    service = await opened();
  });

  test.each(['', '  ', 'a\nb', 'a\u202eb', 'x'.repeat(256)])('%j is no name', async (name) => {
    const error = await service.service.owners.add(name).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ServiceError);
    expect((error as ServiceError).input).toBe(true);
  });

  test.each(['Bearer', 'Bearer ', 'bearer nonsense', 'Bearer pwp_', 'Bearer \u00e9'])(
    '%j is refused',
    async (authorization) => {
      const { status, headers } = await active(undefined, { authorization });
      expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    },
  );

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
  const owners = await ownersIn({ settings: { data } });
  for (const asked of [
    () => owners.add('admin'),
    () => owners.list(),
    () => owners.revoke('admin'),
  ]) {
    const error = await asked().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ServiceError);
    expect((error as ServiceError).message).toBe(`no database in "${data}"`);
  }
  expect(existsSync(data)).toBe(false);
  await owners.add('admin', true);
  expect(owners.made()).toBe(`"${data}"`);
  const again = await ownersIn({ settings: { data } });
  await again.add('bob', true);
  expect(again.made()).toBeUndefined();
});

import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openOwners, openService } from '../../../src/server/open-service';
import { ServiceError } from '../../../src/server/service-errors';
import { call, defaults, type TestService, testClock, testService } from '../../helpers/service';
import { onEachStore, type Room } from '../../helpers/stores';

onEachStore((store) => {
  let room: Room;
  let service: TestService;

  beforeEach(async () => {
    room = await store.room();
    service = await testService(room.settings);
  });

  afterEach(() => service.close());

  const status = async (token: string) =>
    (await call(service, 'GET', '/api/v2/pushes/active', { token })).status;

  describe('owners beside a running service', () => {
    test('a token that another process makes or revokes takes effect at once', async () => {
      const owners = await openOwners(room.settings, testClock());
      const token = await owners.add('carol');
      expect(token).toMatch(/^pwp_[\w-]{43}$/);
      expect(await status(token)).toBe(200);
      expect(await owners.revoke('carol')).toBe(1);
      expect(await status(token)).toBe(401);
      expect(await owners.revoke('carol')).toBe(0);
      expect(await owners.revoke('nobody')).toBe(0);
      expect(await status(service.adminToken)).toBe(200);
      await owners.close();
    });

    test('an owner has as many tokens as were made, and one set of pushes', async () => {
      const owners = await openOwners(room.settings, testClock());
      const second = await owners.add(' bob ');
      const body = { push: { payload: 'x' } };
      await call(service, 'POST', '/api/v2/pushes', { token: service.otherToken, body });
      const { json } = await call(service, 'GET', '/api/v2/pushes/active', { token: second });
      expect(json).toHaveLength(1);
      expect(await owners.revoke('bob')).toBe(2);
      await owners.close();
    });

    test('the list says who there is and when a token was last used', async () => {
      service.clock.advance(90_000);
      await status(service.otherToken);
      // That use is noted beside the request.
      const used = async () => (await service.service.owners.list())[1]?.last_used_at;
      await expect.poll(used).not.toBeNull();
      service.clock.advance(59_000);
      await status(service.otherToken);
      expect(await service.service.owners.list()).toEqual([
        { name: 'admin', created_at: '2026-08-20T11:06:45.000Z', tokens: 1, last_used_at: null },
        {
          name: 'bob',
          created_at: '2026-08-20T11:06:45.000Z',
          tokens: 1,
          last_used_at: '2026-08-20T11:08:15.000Z',
        },
      ]);
    });
  });

  test('admin is made on the first start, others or not', async () => {
    const fresh = (await store.room()).settings;
    const owners = await openOwners(fresh, testClock());
    await owners.add('carol');
    await owners.close();
    const first = await openService(
      { ...defaults, ephemeral: false, ...fresh },
      { log: () => {}, warn: () => {}, now: () => new Date(), version: '0' },
    );
    expect(await first.owners.addFirst()).toMatch(/^pwp_/);
    expect(await first.owners.addFirst()).toBeUndefined();
    await first.close();
  });

  test('admin is made on the first start only', async () => {
    expect(await service.service.owners.addFirst()).toBeUndefined();
    const fresh = (await store.room()).settings;
    const owners = await openOwners(fresh, testClock());
    await owners.close();
    const first = await testService(fresh);
    await first.service.owners.revoke('admin');
    expect(await first.service.owners.addFirst()).toBeUndefined();
    await first.close();
  });
});

describe('tokens and names', () => {
  let service: TestService;

  beforeEach(async () => {
    service = await testService();
  });

  afterEach(() => service.close());

  test.each(['', '  ', 'a\nb', 'a\u202eb', 'x'.repeat(256)])('%j is no name', async (name) => {
    const error = await service.service.owners.add(name).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ServiceError);
    expect((error as ServiceError).input).toBe(true);
  });

  test.each(['Bearer', 'Bearer ', 'bearer nonsense', 'Bearer pwp_', 'Bearer \u00e9'])(
    '%j is refused',
    async (authorization) => {
      const answer = await call(service, 'GET', '/api/v2/pushes/active', {
        headers: { authorization },
      });
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    },
  );

  test('another scheme, as a proxy may want one, is not ours', async () => {
    const headers = { authorization: 'Basic dTpw' };
    expect((await call(service, 'GET', '/api/v2/version', { headers })).status).toBe(200);
    expect((await call(service, 'GET', '/api/v2/pushes/active', { headers })).status).toBe(401);
  });
});

test('listing and revoking make no database', async () => {
  const nowhere = join(tmpdir(), 'pwpush-nowhere', 'data');
  const owners = await openOwners({ data: nowhere }, testClock());
  for (const asked of [() => owners.list(), () => owners.revoke('admin')]) {
    const error = await asked().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ServiceError);
    expect((error as ServiceError).message).toBe(`no database in "${nowhere}"`);
  }
  expect(existsSync(nowhere)).toBe(false);
  await owners.close();
});

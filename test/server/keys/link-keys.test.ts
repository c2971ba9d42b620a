import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { instanceKey } from '../../../src/server/keys/instance-key';
import { unseal } from '../../../src/server/keys/primitives';
import { changeKey } from '../../../src/server/keys/rotation';
import { backup } from '../../../src/server/ops/database-copy';
import { type Database, plain } from '../../../src/server/store/sql';
import { call, create, type TestService, testService } from '../../helpers/service';
import { onEachStore, onSqlite, type Room } from '../../helpers/stores';

// The token of a link opens its push: a copy of the database must not contain it.

const push = { payload: 'hunter2', note: 'third floor', expire_after_views: 5 };

onEachStore((store) => {
  let room: Room;
  let service: TestService;
  let beside: Database;

  beforeEach(async () => {
    room = await store.room();
    service = await testService(room.settings);
    beside = await room.beside();
    return async () => {
      await beside.close();
      await service.close();
    };
  });

  const at = (token: string) => `/api/v2/pushes/${token}`;
  const list = async (state: string, token = service.adminToken) =>
    (await call(service, 'GET', at(state), { token })).json;

  describe('a row that was changed by hand', () => {
    test.each([
      'expire_after_views = 99',
      'expires_at = expires_at + 86400000',
      'owner_id = 2',
      'owner_id = NULL',
    ])('%s: gives no secret, takes no view, and is said to the log', async (change) => {
      const token = await create(service, push, service.adminToken);
      await beside.sql(plain(`UPDATE pushes SET ${change}`));
      for (const auth of [{}, { token: service.adminToken }, { token: service.otherToken }]) {
        const { status, text } = await call(service, 'GET', at(token), auth);
        expect([status, text]).toEqual([500, '{"error":"internal error"}']);
      }
      expect(await beside.sql`SELECT views FROM pushes`).toEqual([{ views: 0 }]);
      expect(service.lines.filter((line) => / error Damaged at /.test(line))).toHaveLength(3);
      for (const token of [service.adminToken, service.otherToken])
        expect(await list('active', token)).toEqual([]);
      const { json } = await call(service, 'DELETE', at(token));
      expect(json.deleted).toBe(true);
    });

    test('with a passphrase: none is even tried', async () => {
      const token = await create(service, { ...push, passphrase: 'p' });
      await beside.sql`UPDATE pushes SET expire_after_views = 99`;
      expect((await call(service, 'GET', `${at(token)}?passphrase=p`)).status).toBe(500);
      expect(await beside.sql`SELECT id FROM tries`).toEqual([]);
    });

    test('a token that was exchanged for that of another push leaves the rest of a list', async () => {
      const kept = await create(service, push, service.adminToken);
      await create(service, push, service.adminToken);
      await beside.sql`
        UPDATE pushes SET sealed_token = (SELECT sealed_token FROM pushes ORDER BY id LIMIT 1)
        WHERE id = (SELECT max(id) FROM pushes)`;
      expect(await list('active')).toMatchObject([{ url_token: kept, note: 'third floor' }]);
    });
  });

  describe('a new instance key', () => {
    test('finds and lists what the old one sealed, and the old key opens no new link', async () => {
      const old = await readKey(room);
      const first = await create(service, push, service.adminToken);
      const ended = await create(service, push, service.adminToken);
      await call(service, 'DELETE', at(ended));
      await beside.exclusively((sql) => changeKey(sql, room.settings));
      await service.close();
      service = await testService(room.settings);
      const second = await create(service, push, service.adminToken);
      expect(await list('active')).toMatchObject([{ url_token: second }, { url_token: first }]);
      expect(await list('expired')).toMatchObject([{ url_token: ended }]);
      for (const token of [first, second])
        expect((await call(service, 'GET', at(token))).json.payload).toBe('hunter2');
      const rows = await beside.sql<{ link_key: number }>`
        SELECT link_key FROM pushes ORDER BY id`;
      expect(rows.map(({ link_key }) => link_key)).toEqual([1, 1, 2]);
      const keys = await beside.sql<{ sealed: Uint8Array }>`SELECT sealed FROM link_keys`;
      expect(keys).toHaveLength(2);
      for (const { sealed } of keys)
        expect(() => unseal(old.wrapping, sealed, 'pwpush link key')).toThrow();
    });
  });
});

describe('a backup', () => {
  const store = onSqlite();

  test('has no token of a push in any table, nor anywhere else', async () => {
    const room = await store.room();
    const service = await testService(room.settings);
    const tokens = [];
    for (let i = 0; i < 20; i += 1) tokens.push(await create(service, push));
    for (const token of tokens.slice(0, 5)) await call(service, 'GET', `/api/v2/pushes/${token}`);
    await call(service, 'DELETE', `/api/v2/pushes/${tokens[6]}`);
    const file = join(room.settings.data, 'copy.db');
    await backup(room.settings, { file, force: false }, {});
    const bytes = await readFile(file);
    expect(bytes.includes('SQLite format 3')).toBe(true);
    expect(tokens.filter((token) => bytes.includes(token))).toEqual([]);
    await service.close();
  });
});

async function readKey({ settings }: Room) {
  const text = await readFile(join(settings.data, 'instance.key'), 'utf8');
  return instanceKey(Buffer.from(text, 'base64'));
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { unseal } from '../../../src/server/keys/primitives';
import { changeKey } from '../../../src/server/keys/rotation';
import { backup } from '../../../src/server/ops/database-copy';
import { type Database, plain } from '../../../src/server/store/sql';
import { keyIn } from '../../helpers/at-rest';
import { opened, type TestService } from '../../helpers/service';
import { onEachStore, onSqlite, type Room } from '../../helpers/stores';

// The token of a link opens its push: a copy of the database must not contain it.

const push = { payload: 'hunter2', note: 'third floor', expire_after_views: 5 };

onEachStore((store) => {
  let room: Room;
  let service: TestService;
  let beside: Database;

  beforeEach(async () => {
    room = await store.room();
    service = await opened(room.settings);
    beside = await room.beside();
    return () => beside.close();
  });

  const own = (more = {}) => service.createOwn({ ...push, ...more });

  describe('a row that was changed by hand', () => {
    test.each(['expire_after_views = 99', 'expires_at = expires_at + 86400000', 'owner_id = 2', 'owner_id = NULL'])(
      '%s: gives no secret, takes no view, and is said to the log',
      async (change) => {
        const token = await own();
        await beside.sql(plain(`UPDATE pushes SET ${change}`));
        const owners = [service.asAdmin, service.asOther];
        for (const auth of [{}, ...owners]) {
          const { status, text } = await service.retrieve(token, auth);
          expect([status, text]).toEqual([500, '{"error":"internal error"}']);
        }
        expect(await beside.sql`SELECT views FROM pushes`).toEqual([{ views: 0 }]);
        expect(service.lines.filter((line) => / error Damaged at /.test(line))).toHaveLength(3);
        for (const owner of owners) expect(await service.list('active', owner)).toEqual([]);
        expect((await service.expire(token)).json.deleted).toBe(true);
      },
    );

    test('with a passphrase: none is even tried', async () => {
      const token = await service.create({ ...push, passphrase: 'p' });
      await beside.sql`UPDATE pushes SET expire_after_views = 99`;
      expect((await service.retrieve(`${token}?passphrase=p`)).status).toBe(500);
      expect(await beside.sql`SELECT id FROM tries`).toEqual([]);
    });

    test('a token that was exchanged for that of another push leaves the rest of a list', async () => {
      const kept = await own();
      await own();
      await beside.sql`
        UPDATE pushes SET sealed_token = (SELECT sealed_token FROM pushes ORDER BY id LIMIT 1)
        WHERE id = (SELECT max(id) FROM pushes)`;
      expect(await service.list('active')).toMatchObject([{ url_token: kept, note: 'third floor' }]);
    });
  });

  test('a new instance key finds and lists what the old one sealed, and the old key opens no new link', async () => {
    const old = await keyIn(room.settings);
    const first = await own();
    const ended = await own();
    await service.expire(ended);
    await beside.exclusively((sql) => changeKey(sql, room.settings));
    await service.close();
    service = await opened(room.settings);
    const second = await own();
    expect(await service.list('active')).toMatchObject([{ url_token: second }, { url_token: first }]);
    expect(await service.list('expired')).toMatchObject([{ url_token: ended }]);
    for (const token of [first, second]) expect((await service.retrieve(token)).json.payload).toBe('hunter2');
    const rows = await beside.sql<{ link_key: number }>`
      SELECT link_key FROM pushes ORDER BY id`;
    expect(rows.map(({ link_key }) => link_key)).toEqual([1, 1, 2]);
    const keys = await beside.sql<{ sealed: Uint8Array }>`SELECT sealed FROM link_keys`;
    expect(keys).toHaveLength(2);
    for (const { sealed } of keys) expect(() => unseal(old.wrapping, sealed, 'pwpush link key')).toThrow();
  });
});

test('a backup has no token of a push in any table, nor anywhere else', async () => {
  const { settings } = await onSqlite().room();
  const service = await opened(settings);
  const tokens: string[] = [];
  for (let i = 0; i < 20; i += 1) tokens.push(await service.create(push));
  for (const token of tokens.slice(0, 5)) await service.retrieve(token);
  await service.expire(tokens[6] as string);
  const file = join(settings.data, 'copy.db');
  await backup(settings, { file, force: false }, {});
  const bytes = await readFile(file);
  expect(bytes.includes('SQLite format 3')).toBe(true);
  expect(tokens.filter((token) => bytes.includes(token))).toEqual([]);
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { instanceKey } from '../../../src/server/keys/instance-key';
import { openLinks } from '../../../src/server/keys/keyring';
import { sealClearTokens } from '../../../src/server/keys/open-keyring';
import { seal, unseal } from '../../../src/server/keys/primitives';
import { rekey } from '../../../src/server/keys/rotation';
import { termsOf } from '../../../src/server/keys/vault';
import { backup } from '../../../src/server/ops/database-copy';
import type { SealedKeys } from '../../../src/server/store/key-rows';
import { migrate } from '../../../src/server/store/migrations';
import type { StoredPush } from '../../../src/server/store/push-rows';
import { type Database, plain } from '../../../src/server/store/sql';
import { call, create, type TestService, testService } from '../../helpers/service';
import { onEachStore, onSqlite, type Room } from '../../helpers/stores';

// The token of a link opens its push: a copy of the database must not contain it.

const io = { sleep: async () => {} };
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
      await rekey(room.settings, io);
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

  describe('data of a version that kept tokens in clear text', () => {
    /** As the third schema had it, and the code that went with it. */
    async function aged(tokens: readonly string[]): Promise<void> {
      const key = await readKey(room);
      for (const url_token of tokens) {
        const [row] = await beside.sql<StoredPush & SealedKeys>`
          SELECT pushes.*, data_key, note_key, verifier
          FROM pushes LEFT JOIN secrets ON secrets.push_id = pushes.id
          WHERE lookup = ${url_token} OR link_key IS NOT NULL ORDER BY pushes.id LIMIT 1`;
        if (!row) throw new Error('no row');
        const again = (sealed: Uint8Array | null, what: 'data key' | 'note key' | 'verifier') => {
          const terms = { ...row, url_token };
          const place = `pwpush push ${url_token} ${what}`;
          return (
            sealed && seal(key.wrapping, unseal(key.wrapping, sealed, termsOf(terms, what)), place)
          );
        };
        await beside.sql`
          UPDATE secrets SET data_key = ${again(row.data_key, 'data key')},
            note_key = ${again(row.note_key, 'note key')},
            verifier = ${again(row.verifier, 'verifier')}
          WHERE push_id = ${row.id}`;
        await beside.sql`
          UPDATE pushes SET lookup = ${url_token}, link_key = NULL, sealed_token = NULL
          WHERE id = ${row.id}`;
      }
      await beside.sql`DELETE FROM link_keys`;
      for (const text of undo) await beside.sql(plain(text));
    }

    const undo = [
      'DELETE FROM migrations WHERE id >= 3',
      ...['pushes_active', 'pushes_expired', 'pushes_by_end'].map((name) => `DROP INDEX ${name}`),
      ...['requests_active', 'requests_closed'].map((name) => `DROP INDEX ${name}`),
      ...['answer_id', 'public_key', 'include_requestor', 'response_file_attachments'].map(
        (name) => `ALTER TABLE pushes DROP COLUMN ${name}`,
      ),
      'CREATE INDEX pushes_active ON pushes (owner_id)',
      'CREATE INDEX pushes_expired ON pushes (owner_id)',
      'CREATE INDEX pushes_by_end ON pushes (expires_at)',
      'DROP TABLE chores',
      'DROP TABLE link_keys',
      'DROP INDEX pushes_in_clear',
      'DROP INDEX pushes_ended',
      'DROP INDEX audit_repeated',
      'ALTER TABLE pushes DROP COLUMN sealed_token',
      'ALTER TABLE pushes DROP COLUMN link_key',
      'ALTER TABLE pushes RENAME COLUMN lookup TO url_token',
      'ALTER TABLE audit DROP COLUMN count',
      'ALTER TABLE audit DROP COLUMN updated_at',
    ];

    async function made(): Promise<string[]> {
      const tokens = [];
      for (let i = 0; i < 30; i += 1) tokens.push(await create(service, push, service.adminToken));
      tokens.push(await create(service, { ...push, passphrase: 'p' }, service.adminToken));
      return tokens;
    }

    test('has them sealed at the start, and opens as before', async () => {
      const tokens = await made();
      await service.close();
      await aged(tokens);
      const clear = await room.remains();
      expect(tokens.filter((token) => !clear.includes(token))).toEqual([]);
      await beside.close();
      service = await testService(room.settings);
      beside = await room.beside();
      expect(service.warnings).toEqual([]);
      const sealed = await room.remains();
      expect(tokens.filter((token) => sealed.includes(token))).toEqual([]);
      expect(await list('active')).toHaveLength(31);
    });

    test('goes on where it was stopped', async () => {
      const tokens = await made();
      await service.close();
      await aged(tokens);
      await migrate(beside);
      const key = await readKey(room);
      const links = await beside.exclusively((sql) => openLinks(sql, [key]));
      let runs = 0;
      const stopping: Database['exclusively'] = (work) => {
        runs += 1;
        return runs > 1 ? Promise.reject(new Error('stopped')) : beside.exclusively(work);
      };
      const stopped = sealClearTokens({ ...beside, exclusively: stopping }, [key], links);
      await expect(stopped).rejects.toThrow('stopped');
      const clear = await beside.sql`SELECT id FROM pushes WHERE link_key IS NULL`;
      expect(clear).toHaveLength(11);
      await opensAll(tokens);
    });

    test('or begins with a change of the instance key', async () => {
      const tokens = await made();
      await service.close();
      await aged(tokens);
      expect(await rekey(room.settings, io)).toMatchObject({ resealed: tokens.length });
      await opensAll(tokens);
    });

    async function opensAll(tokens: readonly string[]): Promise<void> {
      service = await testService(room.settings);
      for (const token of tokens) {
        const { json } = await call(service, 'GET', `${at(token)}?passphrase=p`);
        expect(json).toMatchObject({ payload: 'hunter2', views_remaining: 4 });
      }
    }
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

import { expect, test } from 'vitest';
import type { Database, Sql } from '../../../src/server/store/sql';
import { notedDatabase, overDatabase } from '../../helpers/over-database';
import { call, create, createWithFiles, filePart, fileRows } from '../../helpers/service';

/** The statements of each transaction, as their beginnings. */
function watched(database: Database, look: (text: string) => void): Database {
  const through =
    (sql: Sql): Sql =>
    (strings, ...values) => {
      look(strings.join('?').trim());
      return sql(strings, ...values);
    };
  const transaction: Database['transaction'] = (work, how) =>
    database.transaction((sql) => work(through(sql)), how);
  return { ...database, transaction };
}

const DAY = 86_400_000;
const CHUNK = 64 * 1024;

/** Others wait while a transaction runs, and a gigabyte takes seconds to overwrite. */
test('the secrets of all go first, then their chunks, 512 KiB a transaction', async () => {
  const { database } = await notedDatabase();
  const tables: string[] = [];
  const look = (text: string) => {
    const [, table = ''] = /^DELETE FROM (secrets|chunks)/.exec(text) ?? [];
    if (table) tables.push(table);
  };
  const service = overDatabase(watched(database, look));
  const admin = { fetch: service.fetch, adminToken: await service.owners.add('admin') };
  const large = Buffer.alloc(40 * CHUNK);
  for (const name of ['a', 'b']) await createWithFiles(admin, filePart(name, large));
  await create(service, { payload: 'x' });
  service.clock.advance(7 * DAY);
  expect(await service.sweep()).toBe(3);
  await service.finish();
  expect(tables).toEqual([...Array(3).fill('secrets'), ...Array(12).fill('chunks')]);
  expect(await fileRows(database)).toEqual([0, 0, 0]);
  await database.close();
});

test('large payloads do not go in one transaction', async () => {
  const { database } = await notedDatabase();
  const sizes: number[] = [];
  const transaction: Database['transaction'] = (work, how) => {
    const at = sizes.push(0) - 1;
    const look = (text: string) => {
      if (text.startsWith('DELETE FROM secrets')) sizes[at] = (sizes[at] ?? 0) + 1;
    };
    return watched(database, look).transaction(work, how);
  };
  const service = overDatabase({ ...database, transaction });
  for (let i = 0; i < 3; i += 1) await create(service, { payload: 'x'.repeat(600_000) });
  for (let i = 0; i < 3; i += 1) await create(service, { payload: 'x' });
  service.clock.advance(7 * DAY);
  sizes.length = 0;
  expect(await service.sweep()).toBe(6);
  expect(sizes.filter((size) => size > 0)).toEqual([1, 1, 4]);
  await database.close();
});

test('a push that cannot be ended keeps no other from it, and is tried again', async () => {
  const { database } = await notedDatabase();
  const service = overDatabase(database);
  const tokens = [];
  for (let i = 0; i < 5; i += 1) tokens.push(await create(service, { payload: `${i}` }));
  await database.sql`CREATE TRIGGER stuck BEFORE UPDATE OF expired_at ON pushes WHEN NEW.id = 2
    BEGIN SELECT RAISE(ABORT, 'stuck'); END`;
  service.clock.advance(7 * DAY);
  expect(await service.sweep()).toBe(4);
  const left = () => database.sql<{ push_id: number }>`SELECT push_id FROM secrets`;
  expect(await left()).toEqual([{ push_id: 2 }]);
  expect(service.lines.filter((line) => / error \w+ /.test(line))).toHaveLength(1);
  // Nobody who reads hears of it.
  const look404 = await call(service, 'GET', '/api/v2/pushes/abcdefghijklmnopqrs');
  expect(look404.status).toBe(404);
  const { json } = await call(service, 'GET', `/api/v2/pushes/${tokens[0]}`);
  expect([json.expired, json.payload]).toEqual([true, null]);
  await database.sql`DROP TRIGGER stuck`;
  expect(await service.sweep()).toBe(1);
  expect(await left()).toEqual([]);
  await database.close();
});

test('chunks that cannot be deleted are left for the next sweep, and nobody reads them', async () => {
  const { database } = await notedDatabase();
  const service = overDatabase(database);
  const admin = { fetch: service.fetch, adminToken: await service.owners.add('admin') };
  const token = await createWithFiles(admin, filePart('a', Buffer.alloc(40 * CHUNK)));
  const { json } = await call(service, 'GET', `/api/v2/pushes/${token}`);
  await database.sql`CREATE TRIGGER stuck BEFORE DELETE ON chunks WHEN OLD.number = 20
    BEGIN SELECT RAISE(ABORT, 'stuck'); END`;
  const ended = await call(service, 'DELETE', `/api/v2/pushes/${token}`);
  expect([ended.status, ended.json.deleted]).toEqual([200, true]);
  await service.finish();
  expect(await fileRows(database)).toEqual([1, 1, 24]);
  expect(service.lines.filter((line) => / error \w+ /.test(line))).toHaveLength(1);
  expect((await call(service, 'GET', new URL(json.files[0].url).pathname)).status).toBe(404);
  expect((await call(service, 'GET', `/api/v2/pushes/${token}`)).json.files).toEqual([]);
  await database.sql`DROP TRIGGER stuck`;
  await service.sweep();
  await service.finish();
  expect(await fileRows(database)).toEqual([0, 0, 0]);
  await database.close();
});

test('an ended push is kept with its log for 90 days, then neither is', async () => {
  const { database } = await notedDatabase();
  const service = overDatabase(database);
  const token = await create(service, { payload: 'x', expire_after_views: 1 });
  await create(service, { payload: 'lives on', expire_after_days: 90 });
  await call(service, 'GET', `/api/v2/pushes/${token}`);
  service.clock.advance(90 * DAY - 1);
  await service.sweep();
  const rows = async () => {
    const [row] = await database.sql<object>`
      SELECT (SELECT count(*) FROM pushes) AS pushes, (SELECT count(*) FROM audit) AS events`;
    return Object.values(row as object).map(Number);
  };
  expect(await rows()).toEqual([2, 3]);
  service.clock.advance(1);
  await service.sweep();
  // The other one ends now.
  expect(await rows()).toEqual([1, 1]);
  expect((await call(service, 'GET', `/api/v2/pushes/${token}`)).status).toBe(404);
  await database.close();
});

test('a long log goes in pieces', async () => {
  const { database } = await notedDatabase();
  const service = overDatabase(database);
  await create(service, { payload: 'x', expire_after_days: 1 });
  await database.sql`
    INSERT INTO audit (push_id, kind, created_at)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
    SELECT 1, 'owner_view', i FROM n`;
  service.clock.advance(91 * DAY);
  await service.sweep();
  expect(await database.sql`SELECT id FROM audit UNION SELECT id FROM pushes`).toEqual([]);
  await database.close();
});

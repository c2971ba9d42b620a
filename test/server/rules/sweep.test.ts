import { expect, test } from 'vitest';
import type { Database, Sql } from '../../../src/server/store/sql';
import { overNoted, stuck } from '../../helpers/over-database';
import { filePart, fileRows } from '../../helpers/service';

const DAY = 86_400_000;
const CHUNK = 64 * 1024;

/** Has `look` see the statements of each transaction, which have numbers. */
const watched =
  (look: (text: string, transaction: number) => void) =>
  (database: Database): Database => {
    let count = 0;
    const transaction: Database['transaction'] = (work, how) => {
      const number = ++count;
      return database.transaction((sql) => {
        const through: Sql = (strings, ...values) => {
          look(strings.join('?').trim(), number);
          return sql(strings, ...values);
        };
        return work(through);
      }, how);
    };
    return { ...database, transaction };
  };

const failures = (lines: readonly string[]) => lines.filter((line) => / error \w+ /.test(line));

/** Others wait while a transaction runs, and a gigabyte takes seconds to overwrite. */
test('the secrets of all go first, then their chunks, 512 KiB a transaction', async () => {
  const tables: string[] = [];
  const look = (text: string) => {
    const [, table = ''] = /^DELETE FROM (secrets|chunks)/.exec(text) ?? [];
    if (table) tables.push(table);
  };
  const service = await overNoted(watched(look));
  const large = Buffer.alloc(40 * CHUNK);
  for (const name of ['a', 'b']) await service.createWithFiles(filePart(name, large));
  await service.create({ payload: 'x' });
  service.clock.advance(7 * DAY);
  expect(await service.sweep()).toBe(3);
  await service.finish();
  expect(tables).toEqual([...Array(3).fill('secrets'), ...Array(12).fill('chunks')]);
  expect(await fileRows(service.database)).toEqual([0, 0, 0]);
});

test('of large payloads one goes in a transaction, of small ones fifty', async () => {
  const deleted: number[] = [];
  const look = (text: string, transaction: number) => {
    if (text.startsWith('DELETE FROM secrets')) deleted.push(transaction);
  };
  const service = await overNoted(watched(look));
  const sizes = [...Array(3).fill(600_000), ...Array(50).fill(1)];
  for (const size of sizes) await service.create({ payload: 'x'.repeat(size) });
  service.clock.advance(7 * DAY);
  expect(await service.sweep()).toBe(53);
  const [first = 0] = deleted;
  expect(deleted.map((transaction) => transaction - first)).toEqual([0, 1, ...Array(50).fill(2), 3]);
});

test('a push that cannot be ended keeps no other from it, and is tried again', async () => {
  const service = await overNoted();
  const tokens = [];
  for (let i = 0; i < 5; i += 1) tokens.push(await service.create({ payload: `${i}` }));
  const unstick = await stuck(service.database, 'UPDATE OF expired_at ON pushes WHEN NEW.id = 2');
  service.clock.advance(7 * DAY);
  expect(await service.sweep()).toBe(4);
  const left = () => service.database.sql`SELECT push_id FROM secrets`;
  expect(await left()).toEqual([{ push_id: 2 }]);
  expect(failures(service.lines)).toHaveLength(1);
  // Nobody who reads hears of it.
  expect((await service.retrieve('abcdefghijklmnopqrs')).status).toBe(404);
  const { json } = await service.retrieve(tokens[0] as string);
  expect([json.expired, json.payload]).toEqual([true, null]);
  await unstick();
  expect(await service.sweep()).toBe(1);
  expect(await left()).toEqual([]);
});

test('chunks that cannot be deleted are left for the next sweep, and nobody reads them', async () => {
  const service = await overNoted();
  const token = await service.createWithFiles(filePart('a', Buffer.alloc(40 * CHUNK)));
  const { json } = await service.retrieve(token);
  const unstick = await stuck(service.database, 'DELETE ON chunks WHEN OLD.number = 20');
  const ended = await service.expire(token);
  expect([ended.status, ended.json.deleted]).toEqual([200, true]);
  await service.finish();
  expect(await fileRows(service.database)).toEqual([1, 1, 24]);
  expect(failures(service.lines)).toHaveLength(1);
  expect((await service.call('GET', new URL(json.files[0].url).pathname)).status).toBe(404);
  expect((await service.retrieve(token)).json.files).toEqual([]);
  await unstick();
  await service.sweep();
  await service.finish();
  expect(await fileRows(service.database)).toEqual([0, 0, 0]);
});

test('an ended push is kept with its log for 90 days, then neither is', async () => {
  const service = await overNoted();
  const token = await service.create({ payload: 'x', expire_after_views: 1 });
  await service.create({ payload: 'lives on', expire_after_days: 90 });
  await service.retrieve(token);
  service.clock.advance(90 * DAY - 1);
  await service.sweep();
  const rows = async () => {
    const { sql } = service.database;
    return [(await sql`SELECT id FROM pushes`).length, (await sql`SELECT id FROM audit`).length];
  };
  expect(await rows()).toEqual([2, 3]);
  service.clock.advance(1);
  await service.sweep();
  // The other one ends now.
  expect(await rows()).toEqual([1, 1]);
  expect((await service.retrieve(token)).status).toBe(404);
});

// A transaction deletes 1000 entries of a log, and forgets 500 kept views.
test.each([1000, 1001])('one sweep deletes a push with its log of %i entries', async (count) => {
  const service = await overNoted();
  const { sql } = service.database;
  await service.create({ payload: 'x', expire_after_views: 99 });
  const now = service.clock.now().getTime();
  await sql`
    WITH RECURSIVE entries (number) AS (SELECT 2 UNION ALL SELECT number + 1 FROM entries WHERE number < ${count})
    INSERT INTO audit (push_id, kind, created_at, until, key_hash, sealed)
      SELECT 1, 'view', ${now}, ${now + 1}, number, x'01' FROM entries`;
  service.clock.advance(1);
  await service.sweep();
  expect(await sql`SELECT id FROM audit WHERE until IS NOT NULL OR sealed IS NOT NULL`).toEqual([]);
  expect(await sql`SELECT id FROM audit`).toHaveLength(count);
  service.clock.advance(7 * DAY);
  await service.sweep();
  service.clock.advance(90 * DAY);
  await service.sweep();
  expect(await sql`SELECT id FROM pushes UNION ALL SELECT id FROM audit`).toEqual([]);
  expect(failures(service.lines)).toEqual([]);
});

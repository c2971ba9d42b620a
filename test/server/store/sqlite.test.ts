import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ServiceRefusal } from '../../../src/server/service-errors';
import { migrate } from '../../../src/server/store/database';
import type { Database } from '../../../src/server/store/sql';
import { openMemory, openSqlite } from '../../../src/server/store/sqlite';
import { lock } from '../lock';

let folder: string;
let database: Database;

const open = () => openSqlite(join(folder, 'test.db'), (load) => load());

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pwpush-'));
  database = await open();
  await database.sql`CREATE TABLE things (name TEXT PRIMARY KEY, data BLOB, at BIGINT)`;
});

afterEach(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

const names = async () =>
  (await database.sql<{ name: string }>`SELECT name FROM things ORDER BY name`).map(
    ({ name }) => name,
  );

test('is durable, overwrites what is deleted, and minds foreign keys', async () => {
  const pragma = async (strings: TemplateStringsArray) =>
    Object.values((await database.sql<object>(strings))[0] as object)[0];
  expect([
    await pragma`PRAGMA journal_mode`,
    await pragma`PRAGMA synchronous`,
    await pragma`PRAGMA secure_delete`,
    await pragma`PRAGMA foreign_keys`,
    await pragma`PRAGMA busy_timeout`,
  ]).toEqual(['wal', 2, 1, 1, 0]);
});

test('in memory it takes no more than it may, and deletes nevertheless', async () => {
  const MIB = 1024 * 1024;
  const small = await openMemory((load) => load(), MIB);
  await small.sql`CREATE TABLE things (data BLOB)`;
  const add = (frees: boolean) =>
    small.transaction((sql) => sql`INSERT INTO things VALUES (${Buffer.alloc(MIB / 4)})`, {
      frees,
    });
  for (let at = 0; at < 3; at += 1) await add(false);
  await expect(add(false)).rejects.toThrow(ServiceRefusal);
  expect(small.free()).toBeGreaterThan(0);
  // What ends a push may write a little before it frees more.
  await add(true);
  await small.sql`DELETE FROM things`;
  expect(await small.unused()).toBe(MIB);
  await add(false);
  await small.close();
});

test('no statement from outside gets into a transaction, of this connection or another', async () => {
  const other = await open();
  const slow = database.transaction(async (sql) => {
    await sql`INSERT INTO things VALUES ('a', NULL, NULL)`;
    for (let i = 0; i < 100; i++) await sql`SELECT 1`;
    throw new Error('no');
  });
  const beside = database.sql`INSERT INTO things VALUES ('b', NULL, NULL)`;
  const elsewhere = other.transaction((sql) => sql`INSERT INTO things VALUES ('c', NULL, NULL)`);
  await expect(slow).rejects.toThrow('no');
  await Promise.all([beside, elsewhere]);
  expect(await names()).toEqual(['b', 'c']);
  await other.close();
});

test('a transaction keeps other processes from writing before it has written', async () => {
  const insert = "INSERT INTO things VALUES ('a', NULL, NULL)";
  await database.transaction(async (sql) => {
    await sql`SELECT name FROM things`;
    expect(elsewhere(insert)).toContain('database is locked');
  });
  expect(elsewhere(insert)).toBe('');
  expect(await names()).toEqual(['a']);
});

describe('while another program holds the lock', () => {
  test('it is asked again and again, and reading goes on', async () => {
    let unlock: (() => void) | undefined = lock(join(folder, 'test.db'));
    const pauses: number[] = [];
    const sleep = async (milliseconds: number) => {
      pauses.push(milliseconds);
      expect(await names()).toEqual([]);
      if (pauses.length < 6) return;
      unlock?.();
      unlock = undefined;
    };
    const patient = await openSqlite(join(folder, 'test.db'), (load) => load(), sleep);
    await Promise.all([
      patient.sql`INSERT INTO things VALUES ('a', NULL, NULL)`,
      patient.transaction((sql) => sql`INSERT INTO things VALUES ('b', NULL, NULL)`),
    ]);
    expect(await names()).toEqual(['a', 'b']);
    expect(pauses.length).toBeGreaterThanOrEqual(6);
    await patient.close();
  });

  test('it is given up after five seconds', async () => {
    const unlock = lock(join(folder, 'test.db'));
    let slept = 0;
    const sleep = async (milliseconds: number) => {
      slept += milliseconds;
    };
    const patient = await openSqlite(join(folder, 'test.db'), (load) => load(), sleep);
    const insert = patient.sql`INSERT INTO things VALUES ('a', NULL, NULL)`;
    await expect(insert).rejects.toMatchObject({ kind: 'busy', details: { retryAfter: 5 } });
    expect([slept >= 5000, slept < 5200]).toEqual([true, true]);
    unlock();
    await patient.close();
  });
});

/** Runs one statement in a process of its own, as locks do not hold within one; answers what went wrong. */
function elsewhere(statement: string): string {
  const script = `
    const [path, statement] = process.argv.slice(1);
    let Open;
    try { Open = require('node:sqlite').DatabaseSync; } catch { Open = require('libsql'); }
    try { new Open(path).exec(statement); } catch (error) { console.log(error.message); }`;
  const { stdout } = spawnSync(process.execPath, [
    '-e',
    script,
    join(folder, 'test.db'),
    statement,
  ]);
  return stdout.toString();
}

test('migrations run once, and a later schema is refused', async () => {
  await migrate(database);
  const rows = () => database.sql`SELECT id FROM migrations`;
  const once = await rows();
  await migrate(database);
  expect(await rows()).toEqual(once);
  await database.sql`INSERT INTO migrations (id) VALUES (${999})`;
  await expect(migrate(database)).rejects.toThrow('the data was written by a later version');
});

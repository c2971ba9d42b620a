import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createQueue } from '../../../src/server/queues';
import { ServiceRefusal } from '../../../src/server/service-errors';
import { migrate } from '../../../src/server/store/database';
import { type Database, plain } from '../../../src/server/store/sql';
import { openMemory, openSqlite } from '../../../src/server/store/sqlite';
import { groupCommit } from '../../../src/server/store/sqlite-database';
import { folders } from '../../helpers/memory';
import { lock, open as openNative } from '../lock';
import { add, createThings, namesIn } from './things';

const newFolder = folders();
let path: string;
let database: Database;
let beside: Database;

/** @param sleep in place of waiting, when another program has locked the database */
async function open(sleep?: (milliseconds: number) => Promise<void>): Promise<Database> {
  const opened = await openSqlite(path, (load) => load(), sleep);
  onTestFinished(() => opened.close());
  return opened;
}

beforeEach(async () => {
  path = join(await newFolder(), 'test.db');
  [database, beside] = [await open(), await open()];
  await createThings(database);
});

const added = (name: string, to = database) => to.transaction(async (sql) => (await add(sql, name))[0]?.name);
const outcomes = async (transactions: Promise<unknown>[]) =>
  (await Promise.allSettled(transactions)).map((one) =>
    one.status === 'fulfilled' ? one.value : (one.reason as Error).message,
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
    small.transaction((sql) => sql`INSERT INTO things VALUES (${Buffer.alloc(MIB / 4)})`, { frees });
  for (let at = 0; at < 3; at += 1) await add(false);
  await expect(add(false)).rejects.toThrow(ServiceRefusal);
  expect((await small.space())?.free).toBeGreaterThan(0);
  // What ends a push may write a little before it frees more.
  await add(true);
  await small.sql`DELETE FROM things`;
  expect(await small.unused()).toBe(MIB);
  await add(false);
  await small.close();
});

test('no statement from outside gets into a transaction, of this connection or another', async () => {
  const slow = database.transaction(async (sql) => {
    await add(sql, 'a');
    for (let i = 0; i < 100; i++) await sql`SELECT 1`;
    throw new Error('no');
  });
  const others = [add(database.sql, 'b'), added('c', beside)];
  await expect(slow).rejects.toThrow('no');
  await Promise.all(others);
  expect(await namesIn(database)).toEqual(['b', 'c']);
});

test('while another program holds the lock it is asked again and again, also for a group, and reading goes on', async () => {
  let unlock: (() => void) | undefined = lock(path);
  let pauses = 0;
  const patient = await open(async () => {
    pauses += 1;
    expect([await namesIn(patient), await namesIn(beside)]).toEqual([[], []]);
    if (pauses < 6) return;
    unlock?.();
    unlock = undefined;
  });
  const all = [add(patient.sql, 'a'), added('b', patient), added('c', patient)];
  await Promise.all(all);
  expect(await namesIn(beside)).toEqual(['a', 'b', 'c']);
  expect(pauses).toBeGreaterThanOrEqual(6);
});

test('while another program holds the lock it is given up after five seconds', async () => {
  const unlock = lock(path);
  let slept = 0;
  const patient = await open(async (milliseconds) => {
    slept += milliseconds;
  });
  const refusal = { kind: 'busy', details: { retryAfter: 5 } };
  await expect(add(patient.sql, 'a')).rejects.toMatchObject(refusal);
  expect([slept >= 5000, slept < 5200]).toEqual([true, true]);
  unlock();
});

test('migrations run once, and a later schema is refused', async () => {
  await migrate(database);
  const rows = () => database.sql`SELECT id FROM migrations`;
  const once = await rows();
  await migrate(database);
  expect(await rows()).toEqual(once);
  await database.sql`INSERT INTO migrations (id, digest) VALUES (${999}, ${''})`;
  await expect(migrate(database)).rejects.toThrow('the data was written by a later version');
});

describe('a group of transactions', () => {
  function recording() {
    const connection = openNative(path);
    onTestFinished(() => connection.close());
    const said: string[] = [];
    const exec = (sql: string) => {
      said.push(sql);
      connection.exec(sql);
    };
    return { said, commit: groupCommit({ exec, run: async () => [] }, createQueue()) };
  }

  test('shares one commit, and none is answered before it', async () => {
    const { said, commit } = recording();
    const work = (name: string) =>
      commit(async () => void said.push(`${name} works`)).then(() => said.push(`${name} is told`));
    await Promise.all([work('one'), work('two')]);
    expect(said).toEqual([
      'BEGIN IMMEDIATE',
      ...['SAVEPOINT member', 'one works', 'RELEASE member'],
      ...['SAVEPOINT member', 'two works', 'RELEASE member'],
      'COMMIT',
      ...['one is told', 'two is told'],
    ]);
  });

  test('of one has no savepoint, which would keep all that it deletes in memory', async () => {
    const { said, commit } = recording();
    await commit(async () => void said.push('works'));
    await expect(commit(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(said).toEqual([...['BEGIN IMMEDIATE', 'works', 'COMMIT'], ...['BEGIN IMMEDIATE', 'ROLLBACK']]);
  });

  test('has no long one in it, which has a commit of its own', async () => {
    const { said, commit } = recording();
    const work = (name: string, long: boolean) => commit(async () => void said.push(name), long);
    await Promise.all([work('one', false), work('long', true), work('two', false)]);
    const commits = said.join(' ').split('BEGIN IMMEDIATE').slice(1);
    expect(commits.map((text) => text.match(/one|long|two/g)).sort()).toEqual([['long'], ['one', 'two']]);
  });

  test.each([
    [
      'its commit fails',
      'FOREIGN KEY',
      `CREATE TABLE orphans (name TEXT REFERENCES things (name) DEFERRABLE INITIALLY DEFERRED)`,
      `INSERT INTO orphans VALUES ('nobody')`,
    ],
    [
      'SQLite undoes it all, as on a full disk',
      'UNIQUE',
      'CREATE TABLE taken (name TEXT UNIQUE)',
      `INSERT OR ROLLBACK INTO taken VALUES ('a'), ('a')`,
    ],
  ])('is rejected as a whole if %s, and the next one succeeds', async (...row) => {
    const [, constraint, table, statement] = row;
    await database.sql(plain(table));
    const failing = database.transaction((sql) => sql(plain(statement)));
    const failed = expect.stringContaining(`${constraint} constraint failed`);
    expect(await outcomes([added('a'), failing, added('b')])).toEqual([failed, failed, failed]);
    expect(await namesIn(database)).toEqual([]);
    expect(await outcomes([added('a'), added('b')])).toEqual(['a', 'b']);
    expect(await namesIn(beside)).toEqual(['a', 'b']);
  });

  test('that was handed in before the end is done before the end', async () => {
    const other = await open();
    await Promise.all([added('last', other), other.close()]);
    expect(await namesIn(database)).toEqual(['last']);
  });
});

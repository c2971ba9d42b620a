import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createQueue } from '../../../src/server/queues';
import { groupCommit } from '../../../src/server/store/group-commit';
import { type Database, plain } from '../../../src/server/store/sql';
import { openSqlite } from '../../../src/server/store/sqlite';
import { lock, open } from '../lock';

let folder: string;
let path: string;
let database: Database;
/** Sees what is committed, and nothing else. */
let beside: Database;
/** What is done when the database is locked by another program, in place of waiting. */
let whenLocked: () => void;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pwpush-'));
  path = join(folder, 'group.db');
  whenLocked = () => {};
  database = await openSqlite(
    path,
    (load) => load(),
    async () => whenLocked(),
  );
  beside = await openSqlite(path, (load) => load());
  await database.sql(plain('CREATE TABLE parents (id INTEGER PRIMARY KEY)'));
  await database.sql(
    plain(`CREATE TABLE words (
      word TEXT UNIQUE, parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)`),
  );
});

afterEach(async () => {
  await beside.close();
  await database.close();
  await rm(folder, { recursive: true });
});

const add = (word: string) =>
  database.transaction(async (sql) => {
    await sql`INSERT INTO words (word) VALUES (${word})`;
    return word;
  });

const words = async (from = beside) =>
  (await from.sql<{ word: string }>`SELECT word FROM words ORDER BY word`).map(({ word }) => word);

const outcomes = async (transactions: Promise<unknown>[]) =>
  (await Promise.allSettled(transactions)).map((one) =>
    one.status === 'fulfilled' ? one.value : (one.reason as Error).message,
  );

/** All that a connection is told and all that happens beside, in order. */
function recording() {
  const connection = open(path);
  const said: string[] = [];
  const exec = (sql: string) => {
    said.push(sql);
    connection.exec(sql);
  };
  const commit = groupCommit({ exec }, createQueue());
  return { said, commit, close: () => connection.close() };
}

test('what comes in together shares one commit, and none is answered before it', async () => {
  const { said, commit, close } = recording();
  const work = (name: string) =>
    commit(async () => void said.push(`${name} works`)).then(() => said.push(`${name} is told`));
  await Promise.all([work('one'), work('two')]);
  close();
  expect(said).toEqual([
    'BEGIN IMMEDIATE',
    ...['SAVEPOINT member', 'one works', 'RELEASE member'],
    ...['SAVEPOINT member', 'two works', 'RELEASE member'],
    'COMMIT',
    ...['one is told', 'two is told'],
  ]);
});

test('a lone one has no savepoint, which would keep all that it deletes in memory', async () => {
  const { said, commit, close } = recording();
  await commit(async () => void said.push('works'));
  await expect(commit(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  close();
  expect(said).toEqual([
    ...['BEGIN IMMEDIATE', 'works', 'COMMIT'],
    ...['BEGIN IMMEDIATE', 'ROLLBACK'],
  ]);
});

test('a long transaction shares its commit with no other', async () => {
  const { said, commit, close } = recording();
  const work = (name: string, long: boolean) => commit(async () => void said.push(name), long);
  await Promise.all([work('one', false), work('long', true), work('two', false)]);
  close();
  const commits = said.join(' ').split('BEGIN IMMEDIATE').slice(1);
  expect(commits.map((text) => text.match(/one|long|two/g)).sort()).toEqual([
    ['long'],
    ['one', 'two'],
  ]);
});

test('what was confirmed can be read on another connection, too', async () => {
  const seen = ['a', 'b', 'c'].map(async (word) => {
    await add(word);
    return (await words()).includes(word);
  });
  expect(await Promise.all(seen)).toEqual([true, true, true]);
});

test('a lone one that fails leaves nothing', async () => {
  const half = database.transaction(async (sql) => {
    await sql`INSERT INTO words (word) VALUES ('half')`;
    throw new Error('broken');
  });
  await expect(half).rejects.toThrow('broken');
  expect(await words(database)).toEqual([]);
});

test('one that fails undoes itself only', async () => {
  const half = database.transaction(async (sql) => {
    await sql`INSERT INTO words (word) VALUES ('half')`;
    throw new Error('broken');
  });
  expect(await outcomes([add('a'), half, add('b'), add('a'), add('c')])).toEqual([
    'a',
    'broken',
    'b',
    expect.stringContaining('UNIQUE constraint failed'),
    'c',
  ]);
  expect(await words()).toEqual(['a', 'b', 'c']);
});

test('a commit that fails rejects all that shared it, and the next group succeeds', async () => {
  const orphan = database.transaction(
    (sql) => sql`INSERT INTO words (word, parent) VALUES ('orphan', 7)`,
  );
  const failed = expect.stringContaining('FOREIGN KEY constraint failed');
  expect(await outcomes([add('a'), orphan, add('b')])).toEqual([failed, failed, failed]);
  expect(await words(database)).toEqual([]);
  expect(await outcomes([add('a'), add('b')])).toEqual(['a', 'b']);
  expect(await words()).toEqual(['a', 'b']);
});

test('rejects all if SQLite undoes the whole group, as on a full disk', async () => {
  await add('taken');
  const undone = database.transaction(
    (sql) => sql`INSERT OR ROLLBACK INTO words (word) VALUES ('taken')`,
  );
  const failed = expect.stringContaining('UNIQUE constraint failed');
  expect(await outcomes([add('a'), undone, add('b')])).toEqual([failed, failed, failed]);
  expect(await words()).toEqual(['taken']);
  expect(await outcomes([add('a')])).toEqual(['a']);
});

test('a group that does not get the lock comes again when it is free', async () => {
  const unlock = lock(path);
  let waits = 0;
  whenLocked = () => {
    waits += 1;
    if (waits === 6) unlock();
  };
  expect(await outcomes([add('a'), add('b'), add('c')])).toEqual(['a', 'b', 'c']);
  expect(waits).toBe(6);
  expect(await words()).toEqual(['a', 'b', 'c']);
});

test('what was handed in before the end is done before the end', async () => {
  const other = await openSqlite(path, (load) => load());
  const last = other.transaction((sql) => sql`INSERT INTO words (word) VALUES ('last')`);
  await Promise.all([last, other.close()]);
  expect(await words()).toEqual(['last']);
});

test('a statement that failed works the next time', async () => {
  const insert = (word: string) => database.sql`INSERT INTO words (word) VALUES (${word})`;
  await insert('a');
  for (let i = 0; i < 3; i += 1) {
    await expect(insert('a')).rejects.toThrow('UNIQUE');
    await insert(`b${i}`);
  }
  expect(await words()).toEqual(['a', 'b0', 'b1', 'b2']);
});

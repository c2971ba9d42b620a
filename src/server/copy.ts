import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { copyKey, readKeys, selectKey } from './keys/instance-key';
import { keyInUse } from './keys/rotation';
import { copyError } from './ops/database-copy';
import { invalidInput, ServiceError } from './service-errors';
import {
  type DatabaseIo,
  type DataLocation,
  dataName,
  keyFileOf,
  openDatabase,
  openExisting,
  type Table,
  tablesOf,
  using,
} from './store/database';
import { type Mark, mark, markError, markOf, unmark } from './store/moved';
import { type Database, first, hasRows, plain, type Sql, type Value } from './store/sql';

/** Rows that are in memory at once. */
const PAGE = 50;

type Stored = Readonly<Record<string, Value>>;

/** One of the two databases, within a transaction that nobody shares. */
interface Side {
  readonly database: Database;
  readonly sql: Sql;
}

/**
 * Copies data that no service uses to an empty place, and marks it as moved there. Of both, at most one can be used at
 * any moment: the copy is marked as unfinished in the transaction that makes it, and loses that mark when the data has
 * its own. What is interrupted leaves the data usable or is finished by another call.
 * @throws ServiceError when a service uses one of them, the place has data, or the copy differs
 */
export async function copyData(from: DataLocation, to: DataLocation, io: DatabaseIo) {
  const names = { from: dataName(from, io.env), to: dataName(to, io.env) };
  const key_file = resolve(keyFileOf(to));
  const all = { ...io, moved: true };
  if (names.from === names.to)
    throw invalidInput(
      `${names.to} is the data itself`,
      'check --data, --database and DATABASE_URL',
    );
  try {
    const copied = await using(openExisting(from, all), (database) =>
      database.solely(async (sql) => {
        const source = { database, sql };
        const known = await markOf(database, sql);
        if (known && (known.role !== 'moved' || known.place !== names.to)) throw markError(known);
        const { key } = await keyInUse(sql, from);
        const keys = readKeys(key_file);
        if (keys.length > 0) selectKey(key.id, keys, to);
        const tables = await using(openDatabase(to, all), (target) =>
          target.solely((into) => fill(source, { database: target, sql: into }, names.from, known)),
        );
        if (keys.length === 0) copyKey(key, key_file);
        if (!known) await mark(sql, { role: 'moved', place: names.to });
        return { key_file, key_copied: keys.length === 0, tables };
      }),
    );
    await using(openDatabase(to, all), (target) => target.exclusively(unmark));
    return { ...names, ...copied };
  } catch (error) {
    throw copyError(error, 'cannot copy the data');
  }
}

/**
 * Makes data usable again that was moved. Returns the place of its copy, which nobody may use any more.
 * @throws ServiceError when the data was not moved
 */
export function reopenData(location: DataLocation, io: DatabaseIo) {
  return using(openExisting(location, { ...io, moved: true }), (database) =>
    database.solely(async (sql) => {
      const known = await markOf(database, sql);
      if (!known) throw invalidInput(`${dataName(location, io.env)} was not moved`);
      if (known.role !== 'moved') throw markError(known);
      await unmark(sql);
      return { reopened: dataName(location, io.env), moved_to: known.place };
    }),
  ).catch((error) => {
    throw copyError(error, 'cannot reopen the data');
  });
}

/** @param moved the mark of the source, whose copy was not finished then */
async function fill(from: Side, to: Side, source: string, moved: Mark | undefined) {
  const tables = tablesOf();
  const begun = await markOf(to.database, to.sql);
  const isOurs = begun?.role === 'unfinished' && begun.place === source;
  if (!begun && moved) throw markError(moved);
  for (const { name } of tables.toReversed()) {
    if (isOurs) await to.sql(plain(`DELETE FROM ${name}`));
    else if (begun || (await hasRows(to.sql(plain(`SELECT 1 FROM ${name} LIMIT 1`)))))
      throw invalidInput(
        'there is data at the new place already',
        'choose an empty database, or a folder without pwpush.db',
      );
  }
  if (!begun) await mark(to.sql, { role: 'unfinished', place: source });
  const copied = [];
  for (const table of tables) copied.push(await copyTable(from, to, table));
  return copied;
}

/** @throws ServiceError when the copy has not exactly the rows of the table */
async function copyTable(from: Side, to: Side, table: Table) {
  const { name, key, isNumbered } = table;
  const last = await lastIdOf(from, table);
  const [column = ''] = key;
  if (isNumbered)
    for (const text of to.database.catalog.setLastId(name, column, last)) await to.sql(plain(text));
  const read = await digestOf(from, table, (rows) => insert(to.sql, name, rows));
  const stored = await digestOf(to, table);
  if (read.digest === stored.digest) return stored;
  throw new ServiceError(`the copy of the table ${name} differs from it`, {
    hint: 'nothing was changed; look for triggers and rules in the new database',
  });
}

/** Returns 0 for a table that never had rows, and for one with keys of another kind. */
async function lastIdOf({ database, sql }: Side, { name, key, isNumbered }: Table) {
  if (!isNumbered) return 0;
  const text = database.catalog.lastId(name, `${key}`);
  return (await first(sql<{ last: number | null }>(plain(text))))?.last ?? 0;
}

/** Hashes the rows in a form that is the same for both stores, whatever their order. */
async function digestOf(
  side: Side,
  table: Table,
  onPage?: (rows: readonly Stored[]) => Promise<void>,
) {
  let [count, sum] = [0, 0n];
  for await (const rows of pagesOf(side.sql, table)) {
    for (const row of rows) sum += hashOf(row);
    count += rows.length;
    await onPage?.(rows);
  }
  const whole = `${count} ${await lastIdOf(side, table)} ${sum % 2n ** 256n}`;
  const digest = createHash('sha256').update(whole).digest('hex');
  return { name: table.name, rows: count, digest };
}

function hashOf(row: Stored): bigint {
  const values = columnsOf(row).map((name) => {
    const value = row[name];
    return [name, value instanceof Uint8Array ? [Buffer.from(value).toString('base64')] : value];
  });
  const hash = createHash('sha256').update(JSON.stringify(values)).digest('hex');
  return BigInt(`0x${hash}`);
}

/** The filler is a column of SQLite alone, which gives it its value (`Dialect`). */
const columnsOf = (row: Stored) =>
  Object.keys(row)
    .filter((name) => name !== 'filler')
    .sort();

async function* pagesOf(sql: Sql, { name, key }: Table): AsyncGenerator<Stored[]> {
  const page = `ORDER BY ${key.join(', ')} LIMIT ${PAGE}`;
  const after = `(${key.join(', ')}) > (${key.map(() => '?').join(', ')})`;
  const next = plain(`SELECT * FROM ${name} WHERE ${after} ${page}`);
  let rows = await sql<Stored>(plain(`SELECT * FROM ${name} ${page}`));
  for (let last = rows.at(-1); last; last = rows.at(-1)) {
    yield rows;
    const values = key.map((column) => last?.[column] as Value);
    rows = await sql<Stored>(next, ...values);
  }
}

async function insert(sql: Sql, table: string, rows: readonly Stored[]): Promise<void> {
  const columns = columnsOf(rows[0] as Stored);
  const places = `(${columns.map(() => '?')})`;
  const text = `INSERT INTO ${table} (${columns}) VALUES ${rows.map(() => places)}`;
  await sql(plain(text), ...rows.flatMap((row) => columns.map((name) => row[name] as Value)));
}

// SQLite as the service has it: node:sqlite, or libsql where Node has none.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** A connection with `exec` and `all`. */
export function openSqlite(path) {
  try {
    const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(path);
    return {
      exec: (sql) => database.exec(sql),
      all: (sql, ...values) => database.prepare(sql).all(...values),
      close: () => database.close(),
    };
  } catch {
    const database = new (require('libsql'))(path);
    return {
      exec: (sql) => database.exec(sql),
      all: (sql, ...values) => database.prepare(sql).all(values),
      close: () => database.close(),
    };
  }
}

/** How many transactions of one row this disk takes a second, each synced: what durable answers have to share. */
export function commitsPerSecond(path, milliseconds = 2000) {
  const database = openSqlite(path);
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  database.exec('CREATE TABLE numbers (number INTEGER)');
  const began = performance.now();
  let count = 0;
  for (; performance.now() - began < milliseconds; count += 1) {
    database.exec('BEGIN IMMEDIATE');
    database.exec(`INSERT INTO numbers VALUES (${count})`);
    database.exec('COMMIT');
  }
  const rate = count / ((performance.now() - began) / 1000);
  database.close();
  return rate;
}

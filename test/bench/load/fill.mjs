// Fills a database with pushes as if they had been made over a year, by SQL alone: most have expired.
import { openSqlite } from './sqlite.mjs';

const DAY = 86_400_000;
const BATCH = 50_000;

/** Pushes the first owner has that are active; the more there are in all, the more of the rest are expired. */
const ACTIVE = 20_000;
const OWNERS = 100;

/**
 * Of `count` pushes the first 20,000 are active, the rest expired; the first owner has those and a third of the
 * rest, the others are spread over 99 owners and nobody. Each has three lines in the audit log.
 */
export function fill(path, count) {
  const database = openSqlite(path);
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = OFF');
  const now = Date.now();
  database.exec('BEGIN');
  for (let owner = 2; owner <= OWNERS; owner += 1) {
    database.exec(`INSERT INTO owners (name, created_at) VALUES ('owner ${owner}', ${now})`);
  }
  database.exec('COMMIT');
  for (let first = 1; first <= count; first += BATCH) {
    database.exec('BEGIN');
    insert(database, first, Math.min(count, first + BATCH - 1), now);
    database.exec('COMMIT');
  }
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}

function insert(database, first, last, now) {
  const numbers = `WITH RECURSIVE n (n) AS (
    SELECT ${first} UNION ALL SELECT n + 1 FROM n WHERE n < ${last})`;
  const owner = `CASE WHEN n <= ${ACTIVE} OR n % 3 = 0 THEN 1 WHEN n % 3 = 1 THEN NULL
    ELSE 2 + n % ${OWNERS - 1} END`;
  const made = `${now - 365 * DAY} + n * 30000`;
  const ended = `CASE WHEN n > ${ACTIVE} THEN ${made} + ${7 * DAY} END`;
  const until = `CASE WHEN n > ${ACTIVE} THEN ${made} + ${7 * DAY} ELSE ${now + 30 * DAY} END`;
  database.exec(`${numbers}
    INSERT INTO pushes (id, url_token, owner_id, kind, name, expire_after_days, expire_after_views, views,
      deletable_by_viewer, retrieval_step, protected, deleted, created_at, updated_at, expires_at, expired_at)
    SELECT n, lower(hex(randomblob(10))), ${owner}, 'text', 'push ' || n, 7, 5, 0, 1, 0, 0, 0,
      ${made}, ${made}, ${until}, ${ended} FROM n`);
  database.exec(`${numbers}
    INSERT INTO secrets (push_id, data_key, payload)
    SELECT n, randomblob(61), randomblob(80) FROM n WHERE n <= ${ACTIVE}`);
  for (const [kind, later] of [
    ['creation', 0],
    ['view', DAY],
    ['failed_view', 8 * DAY],
  ]) {
    database.exec(`${numbers}
      INSERT INTO audit (push_id, kind, ip, user_agent, created_at)
      SELECT n, '${kind}', '192.0.2.1', 'pwpush/0.1.0', ${made} + ${later} FROM n`);
  }
}

/** Adds pushes whose time has passed and which nobody has swept. */
export function addDue(path, count) {
  const database = openSqlite(path);
  const now = Date.now();
  database.exec('BEGIN IMMEDIATE');
  const numbers = `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${count})`;
  database.exec(`${numbers}
    INSERT INTO pushes (url_token, owner_id, kind, name, expire_after_days, expire_after_views, views,
      deletable_by_viewer, retrieval_step, protected, deleted, created_at, updated_at, expires_at)
    SELECT lower(hex(randomblob(10))), 1, 'text', 'due', 1, 5, 0, 1, 0, 0, 0,
      ${now - 2 * DAY}, ${now - 2 * DAY}, ${now - DAY} + n FROM n`);
  database.exec(`INSERT INTO secrets (push_id, data_key, payload)
    SELECT id, randomblob(61), randomblob(80) FROM pushes WHERE expired_at IS NULL AND expires_at <= ${now}`);
  database.exec('COMMIT');
  database.close();
}

/** How many are due still. */
export function countDue(database) {
  const [{ due }] = database.all(
    `SELECT count(*) AS due FROM pushes WHERE expired_at IS NULL AND expires_at <= ${Date.now()}`,
  );
  return due;
}

/** The URL tokens of an active push and of one that has expired. */
export function examples(path) {
  const database = openSqlite(path);
  const of = (where) =>
    database.all(`SELECT url_token FROM pushes WHERE ${where} LIMIT 1`)[0].url_token;
  const tokens = { active: of('id = 10000'), expired: of('id = 30000') };
  database.close();
  return tokens;
}

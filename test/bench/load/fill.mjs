// Fills a database with copies of its newest push, by SQL alone, which SQLite and PostgreSQL understand. A copy has a
// lookup of its own, so its sealed token does not open: it can be found, counted and ended, but not shown.
const DAY = 86_400_000;
const BATCH = 50_000;

/** Pushes whose time has passed and which nobody has swept. */
export const addDue = (database, count) =>
  copy(database, count, { expires: `${Date.now() - DAY} + n`, expired: 'NULL' });

/** Pushes that ended a day ago. */
export const addExpired = (database, count) =>
  copy(database, count, { expires: Date.now() - DAY, expired: `${Date.now() - DAY} + n` });

/** Runs `fill` on a database as on one that may be lost: what it writes takes less than half of the time. */
export function unsafely(database, fill) {
  if (database.isPostgres) return fill();
  // The index of lookups, whose places are random, stays in memory.
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -400000');
  fill();
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -2000');
}

function copy(database, count, { expires, expired }) {
  const random = database.isPostgres ? 'md5(random()::text)' : 'lower(hex(randomblob(16)))';
  const [{ id }] = database.all('SELECT max(id) AS id FROM pushes');
  for (let first = 1; first <= count; first += BATCH) {
    const last = Math.min(count, first + BATCH - 1);
    const [{ before }] = database.all('SELECT max(id) AS before FROM pushes');
    database.exec(`
      BEGIN;
      WITH RECURSIVE n (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM n WHERE n < ${last})
      INSERT INTO pushes (lookup, sealed_token, link_key, owner_id, kind, name, expire_after_days,
        expire_after_views, views, deletable_by_viewer, retrieval_step, protected, deleted,
        created_at, updated_at, expires_at, expired_at)
      SELECT ${random}, sealed_token, link_key, owner_id, kind, name, expire_after_days,
        expire_after_views, views, deletable_by_viewer, retrieval_step, protected, deleted,
        created_at - n, updated_at - n, ${expires}, ${expired}
      FROM n, pushes WHERE id = ${id};
      INSERT INTO secrets (push_id, data_key, payload, key_id)
      SELECT pushes.id, data_key, payload, key_id FROM pushes, secrets
      WHERE pushes.id > ${before} AND expired_at IS NULL AND push_id = ${id};
      INSERT INTO audit (push_id, kind, ip, user_agent, created_at)
      SELECT pushes.id, audit.kind, ip, user_agent, audit.created_at FROM pushes, audit
      WHERE pushes.id > ${before} AND push_id = ${id};
      COMMIT`);
  }
}

/** A push that is due still, if there is one: the one that a sweep ends next. */
export function nextDue(database) {
  const [due] = database.all(
    `SELECT id FROM pushes WHERE expired_at IS NULL AND expires_at <= ${Date.now()}
     ORDER BY expires_at, id LIMIT 1`,
  );
  return due?.id;
}

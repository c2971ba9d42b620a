// Databases that the bench looks into: a PostgreSQL of its own, durable as it comes, in a temporary folder, and SQLite.
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';

const debian = '/usr/lib/postgresql';
const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => b - a) : [];
const folders = [...process.env.PATH.split(':'), ...versions.map((version) => join(debian, version, 'bin'))];
const programs = folders.find((folder) => existsSync(join(folder, 'initdb')));
const isRoot = userInfo().uid === 0;

/** Runs a program of PostgreSQL as the user postgres, since a server refuses to be root. */
function run(name, ...words) {
  const program = [join(programs, name), ...words];
  const [command, ...rest] = isRoot ? ['runuser', '-u', 'postgres', '--', ...program] : program;
  execFileSync(command, rest, { cwd: tmpdir(), stdio: 'ignore' });
}

/** Starts a server; `newDatabase` returns the address of one, on a socket. Nothing where PostgreSQL is not installed. */
export function startPostgres() {
  if (!programs) return undefined;
  const folder = mkdtempSync(join(process.env.BENCH_TMPDIR ?? tmpdir(), 'pwpush-bench-pg-'));
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  const id = (what) => Number(execFileSync('id', [what, 'postgres']));
  if (isRoot) for (const path of [folder, data]) chownSync(path, id('-u'), id('-g'));
  run('initdb', '-D', data, '-U', 'postgres', '-E', 'UTF8', '--locale=C', '-A', 'trust');
  const settings = `-c listen_addresses= -c unix_socket_directories=${folder}`;
  run('pg_ctl', '-D', data, '-s', '-w', '-l', join(folder, 'log'), '-o', settings, 'start');
  process.on('exit', () => {
    run('pg_ctl', '-D', data, '-s', '-m', 'immediate', 'stop');
    rmSync(folder, { recursive: true });
  });
  const address = (name) => `postgres://postgres@/${name}?host=${encodeURIComponent(folder)}`;
  let databases = 0;
  const newDatabase = () => {
    databases += 1;
    openPostgres(address('postgres')).exec(`CREATE DATABASE bench_${databases}`);
    return address(`bench_${databases}`);
  };
  return { pid: Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]), newDatabase };
}

export function openPostgres(address) {
  const options = { encoding: 'utf8' };
  const psql = (input) => execFileSync('psql', ['-AtXqd', address, '-v', 'ON_ERROR_STOP=1'], { ...options, input });
  return {
    isPostgres: true,
    exec: (sql) => psql(`${sql};`),
    all: (sql) => JSON.parse(psql(`SELECT COALESCE(json_agg(found), '[]') FROM (${sql}) AS found;`)),
    close() {},
  };
}

export function openSqlite(path) {
  const database = new Database(path);
  const all = (sql) => database.prepare(sql).all([]);
  return { exec: (sql) => database.exec(sql), all, close: () => database.close() };
}

const DAY = 86_400_000;
const BATCH = 50_000;

/** Adds pushes whose time has passed and which nobody has swept. */
export const addDue = (database, count) =>
  copy(database, count, { expires: `${Date.now() - DAY} + n`, expired: 'NULL' });

/** Adds pushes that ended a day ago. */
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

/**
 * Fills a database with copies of its newest push, by SQL that both understand. A copy has a lookup of its own, so its
 * sealed token does not open: it can be found, counted and ended, but not shown.
 */
function copy(database, count, { expires, expired }) {
  const random = database.isPostgres ? 'md5(random()::text)' : 'lower(hex(randomblob(16)))';
  const newest = () => database.all('SELECT max(id) AS id FROM pushes')[0].id;
  const id = newest();
  for (let first = 1; first <= count; first += BATCH) {
    const last = Math.min(count, first + BATCH - 1);
    const before = newest();
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
  const due = `expired_at IS NULL AND expires_at <= ${Date.now()}`;
  return database.all(`SELECT id FROM pushes WHERE ${due} ORDER BY expires_at, id LIMIT 1`)[0]?.id;
}

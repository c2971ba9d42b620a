// A PostgreSQL server of the bench's own, durable as it comes, in a temporary folder.
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

const debian = '/usr/lib/postgresql';
const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => b - a) : [];
const folders = [...process.env.PATH.split(':'), ...versions.map((version) => join(debian, version, 'bin'))];
const programs = folders.find((folder) => existsSync(join(folder, 'initdb')));

/** Starts one and answers its address, which is that of a socket; nothing where PostgreSQL is not installed. */
export function startPostgres() {
  if (!programs) return undefined;
  const folder = mkdtempSync(join(process.env.BENCH_TMPDIR ?? tmpdir(), 'pwpush-bench-pg-'));
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (isRoot()) for (const path of [folder, data]) chownSync(path, id('-u'), id('-g'));
  run('initdb', '-D', data, '-U', 'postgres', '-E', 'UTF8', '--locale=C', '-A', 'trust');
  const settings = `-c listen_addresses= -c unix_socket_directories=${folder}`;
  run('pg_ctl', '-D', data, '-s', '-w', '-l', join(folder, 'log'), '-o', settings, 'start');
  process.on('exit', () => {
    run('pg_ctl', '-D', data, '-s', '-m', 'immediate', 'stop');
    rmSync(folder, { recursive: true });
  });
  return `postgres://postgres@/postgres?host=${encodeURIComponent(folder)}`;
}

/** The address of a new database of that server. */
export function newDatabase(address, name) {
  openPostgres(address).exec(`CREATE DATABASE ${name}`);
  return address.replace('/postgres?', `/${name}?`);
}

/** A database at an address, as `openSqlite` has those of SQLite. */
export function openPostgres(address) {
  const psql = (sql) =>
    execFileSync('psql', ['-AtXqd', address, '-v', 'ON_ERROR_STOP=1'], {
      input: sql,
      encoding: 'utf8',
    });
  return {
    isPostgres: true,
    exec: (sql) => psql(`${sql};`),
    all: (sql) => JSON.parse(psql(`SELECT COALESCE(json_agg(found), '[]') FROM (${sql}) AS found;`)),
    close() {},
  };
}

/** As the user postgres, since a server refuses to be root. */
function run(name, ...words) {
  const program = [join(programs, name), ...words];
  const [command, ...rest] = isRoot() ? ['runuser', '-u', 'postgres', '--', ...program] : program;
  execFileSync(command, rest, { cwd: tmpdir(), stdio: 'ignore' });
}

function isRoot() {
  return userInfo().uid === 0;
}

function id(what) {
  return Number(execFileSync('id', [what, 'postgres']));
}

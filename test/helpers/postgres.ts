import { execFile, execFileSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { chownSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { memory } from './memory';
import { needs } from './needs';

const run = promisify(execFile);

/** The newest PostgreSQL of this machine; it need not be on the PATH, and on Debian is not. */
const tools = ['initdb', 'pg_ctl', 'pg_dump'] as const;
const binaries = folders().find((folder) => tools.every((name) => existsSync(join(folder, name))));

export const needsPostgres = needs('PostgreSQL', binaries);

/** Has to be changed to be said in a URL. */
export const PASSWORD = 'MARKER p@ss/word:%41';

function folders(): string[] {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  const newest = versions.sort((a, b) => Number(b) - Number(a));
  const onPath = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return [...onPath, ...newest.map((version) => join(debian, version, 'bin'))];
}

export type Databases = ReturnType<typeof databasesOf>;
export type Cluster = Awaited<ReturnType<typeof startCluster>>;

export interface ClusterOptions {
  readonly settings?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly within?: string;
}

/** Starts a server of its own, in a temporary folder, on a free port of 127.0.0.1 and a socket in that folder. */
export async function startCluster(options: ClusterOptions = {}) {
  const { settings = [], files = {}, within = memory } = options;
  const folder = await mkdtemp(join(within, 'pwpush-pg-'));
  const [data, log] = [join(folder, 'data'), join(folder, 'log')];
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, `${PASSWORD}\n`);
  if (isRoot()) for (const path of [folder, passwordFile]) chownSync(path, ...ownerOfPostgres());
  const auth = ['--auth-local=trust', '--auth-host=scram-sha-256', `--pwfile=${passwordFile}`];
  await tool('initdb', '-D', data, '-U', 'postgres', '-E', 'UTF8', '--locale=C', '-N', ...auth);
  const lines = [
    "listen_addresses = '127.0.0.1'",
    `unix_socket_directories = '${folder}'`,
    // Nobody pulls the plug, and the disk is not what is tested.
    'fsync = off',
    ...settings,
  ];
  await writeFile(join(data, 'postgresql.auto.conf'), `${lines.join('\n')}\n`);
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(data, name), text, { mode: 0o600 });
    if (isRoot()) chownSync(join(data, name), ...ownerOfPostgres());
  }
  const control = (...words: string[]) => tool('pg_ctl', '-D', data, '-s', '-w', '-l', log, ...words);
  const start = (port: number) => control('start', '-o', `-p ${port}`);
  const port = await onFreePort(start, log);
  return {
    folder,
    port,
    ...databasesOf({ folder, port }),
    start: () => start(port),
    /** `immediate` is a crash. */
    stop: (mode: 'fast' | 'immediate' = 'fast') => control('stop', '-m', mode),
    async remove() {
      await control('stop', '-m', 'immediate').catch(() => undefined);
      await rm(folder, { recursive: true });
    },
  };
}

/** Starts a server, whose log that is, on a port that others have not taken before it listens; answers which. */
async function onFreePort(start: (port: number) => Promise<void>, log: string): Promise<number> {
  for (;;) {
    const port = await freePort();
    try {
      await start(port);
      return port;
    } catch (error) {
      if (!readFileSync(log, 'utf8').includes('Address already in use')) throw error;
      await rm(log);
    }
  }
}

export function databasesOf({ folder, port }: { readonly folder: string; readonly port: number }) {
  return {
    url: (database: string) => `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`,
    localUrl: (database: string) => `postgres://postgres@/${database}?host=${folder}&port=${port}`,
    /** Makes a copy of a database, of an empty one by default, and answers its name. `how` goes into the statement. */
    async createDatabase(template = 'template0', how = '') {
      // The files of a run share a server.
      const name = `test_${randomBytes(6).toString('hex')}`;
      const sql = postgres({ host: folder, port, user: 'postgres', max: 1 });
      try {
        const [{ server_version_num: version } = {}] = await sql`SHOW server_version_num`;
        // Quicker than by way of the log, as before PostgreSQL 15.
        const copied = version >= 150_000 ? 'STRATEGY FILE_COPY' : '';
        await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template} ${copied} ${how}`);
      } finally {
        await sql.end();
      }
      return name;
    },
    /** What pg_dump writes of a database, told such options. */
    async dump(database: string, ...options: string[]) {
      const words = ['-h', folder, '-p', `${port}`, '-U', 'postgres', ...options, database];
      return (await run(join(binaries ?? '', 'pg_dump'), words, { maxBuffer: 2 ** 28 })).stdout;
    },
  };
}

async function tool(name: (typeof tools)[number], ...words: string[]): Promise<void> {
  const program = join(binaries ?? '', name);
  const options = { cwd: tmpdir() };
  await (isRoot()
    ? run('runuser', ['-u', 'postgres', '--', program, ...words], options)
    : run(program, words, options));
}

function isRoot(): boolean {
  return userInfo().uid === 0;
}

function ownerOfPostgres(): [number, number] {
  const id = (what: string) => Number(execFileSync('id', [what, 'postgres']));
  return [id('-u'), id('-g')];
}

/** A port for what cannot choose one: of those that systems give to nobody who takes any. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) =>
      server.once('error', () => resolve(false)).listen(port, () => resolve(true)),
    );
    if (!free) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

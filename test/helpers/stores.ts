import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject } from 'vitest';
import type { ServiceSettings } from '../../src/server/service-settings';
import { readAddress } from '../../src/server/store/pg-url';
import type { Database } from '../../src/server/store/sql';
import { openSqlite } from '../../src/server/store/sqlite';
import { folders } from './memory';
import { type Cluster, type ClusterOptions, needsPostgres, startCluster } from './postgres';
import { type SharedDatabases, sharedDatabases } from './shared-postgres';

/** Somewhere empty to keep data in. */
export interface Room {
  readonly settings: Pick<ServiceSettings, 'data' | 'database'>;
  beside(): Promise<Database>;
  /**
   * All that whoever takes the data gets, but for the instance key: the bytes of the file, its log and the log's index,
   * or of dumps with their values decoded.
   */
  remains(): Promise<Buffer>;
}

/** Works once on the data in a room, beside a service. */
export async function inRoom<T>(room: Room, work: (database: Database) => Promise<T>): Promise<T> {
  const beside = await room.beside();
  try {
    return await work(beside);
  } finally {
    await beside.close();
  }
}

export interface Store {
  readonly name: 'SQLite' | 'PostgreSQL';
  room(): Promise<Room>;
}

// A fast file runs on SQLite; the slow one of its name imports it, and is the same on PostgreSQL; other slow ones run both.
const file = () => expect.getState().testPath ?? '';
const isSlow = () => file().endsWith('.slow.test.ts');
const isSecond = () => isSlow() && existsSync(file().replace('.slow.test.ts', '.test.ts'));

/** Runs the tests against SQLite and against a real PostgreSQL. */
export function onEachStore(tests: (store: Store) => void): void {
  if (!isSecond()) describe('SQLite', () => tests(onSqlite()));
  onSharedPostgres((databases) => {
    const folder = folders();
    tests({
      name: 'PostgreSQL',
      async room() {
        const name = await databases().createMigrated();
        const database = databases().localUrl(name);
        return {
          settings: { data: await folder(), database },
          beside: () => openBeside(database),
          remains: async () => {
            const dumps = [databases().dump(name), databases().dump(name, '--data-only')];
            return Buffer.concat((await Promise.all(dumps)).flatMap(decoded));
          },
        };
      },
    });
  });
}

/** SQLite alone, for what is of its own. */
export function onSqlite(): Store {
  const folder = folders();
  return {
    name: 'SQLite',
    async room() {
      const data = await folder();
      return { settings: { data }, beside: () => sqliteIn(data), remains: () => filesOf(data) };
    },
  };
}

export const sqliteIn = (data: string): Promise<Database> => openSqlite(join(data, 'pwpush.db'), (load) => load());

/** Runs the tests with the PostgreSQL server that all test files share: they are not to stop it. */
export function onSharedPostgres(tests: (databases: () => SharedDatabases) => void): void {
  if (!isSlow()) return;
  describe('PostgreSQL', needsPostgres, () => {
    let databases: SharedDatabases | undefined;
    beforeAll(async () => {
      databases = await sharedDatabases(inject('postgresSocket'));
    });
    tests(() => databases as SharedDatabases);
  });
}

/** Runs the tests with a PostgreSQL server of their own, which they may stop. */
export function onPostgres(tests: (cluster: () => Cluster) => void, options: ClusterOptions = {}): void {
  describe('PostgreSQL', needsPostgres, () => {
    let cluster: Cluster | undefined;
    beforeAll(async () => {
      cluster = await startCluster(options);
    });
    afterAll(() => cluster?.remove());
    // In a suite of their own: what fails after them must not keep the server from being stopped.
    describe('server', () => tests(() => cluster as Cluster));
  });
}

async function filesOf(data: string): Promise<Buffer> {
  const names = (await readdir(data)).filter((name) => name.startsWith('pwpush.db'));
  return Buffer.concat(await Promise.all(names.map((name) => readFile(join(data, name)))));
}

/** A dump as it is, and the bytes that stand in it as `\\x0123`. */
function decoded(dump: string): Buffer[] {
  const values = dump.match(/(?<=\\x)[\da-f]+/g) ?? [];
  return [Buffer.from(dump), ...values.map((value) => Buffer.from(value, 'hex'))];
}

export async function openBeside(url: string): Promise<Database> {
  const { openPostgres } = await import('../../src/server/store/postgres');
  return openPostgres(() => readAddress(url));
}

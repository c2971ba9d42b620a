import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/server/store/database';
import { readAddress } from '../../src/server/store/pg-url';
import { openPostgres } from '../../src/server/store/postgres';
import { databasesOf, startCluster } from './postgres';

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the socket that answers where the PostgreSQL server of this run is. */
    readonly postgresSocket: string;
  }
}

/** Runs in vitest's main process: one server for all test files, started when the first of them asks for it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'pwpush-test-'));
  const path = process.platform === 'win32' ? `\\\\.\\pipe\\pwpush-${process.pid}` : join(folder, 'postgres');
  let cluster: Promise<Shared> | undefined;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    cluster ??= startShared();
    cluster.then(
      ({ folder, port, migrated }) => socket.end(JSON.stringify({ folder, port, migrated })),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    );
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  project.provide('postgresSocket', path);
  return async () => {
    server.close();
    await rm(folder, { recursive: true });
    await cluster?.then((started) => started.remove());
  };
}

type Shared = Awaited<ReturnType<typeof startShared>>;

/** A server with a database of the current schema: copying it is quicker than the migrations. */
async function startShared() {
  // Each test file that runs has some pools of connections.
  const cluster = await startCluster({ settings: ['max_connections = 500'] });
  const migrated = await cluster.createDatabase();
  const database = await openPostgres(() => readAddress(cluster.localUrl(migrated)));
  await migrate(database);
  await database.close();
  return { ...cluster, migrated };
}

export type SharedDatabases = Awaited<ReturnType<typeof sharedDatabases>>;

export async function sharedDatabases(path: string) {
  const answer = (await json(connect(path))) as Pick<Shared, 'folder' | 'port' | 'migrated'> & {
    error?: string;
  };
  if (answer.error !== undefined) throw new Error(answer.error);
  const databases = databasesOf(answer);
  return {
    ...databases,
    createMigrated: () => databases.createDatabase(answer.migrated),
  };
}

import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { TestProject } from 'vitest/node';
import { type Cluster, type Databases, databasesOf, startCluster } from './postgres';

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the socket that answers where the PostgreSQL server of this run is. */
    readonly postgresSocket: string;
  }
}

/** Runs in vitest's main process: one server for all test files, started when the first of them asks for it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'pwpush-test-'));
  const path =
    process.platform === 'win32' ? `\\\\.\\pipe\\pwpush-${process.pid}` : join(folder, 'postgres');
  let cluster: Promise<Cluster> | undefined;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    // Each test file that runs has some pools of connections.
    cluster ??= startCluster({ settings: ['max_connections = 500'] });
    cluster.then(
      ({ folder, port }) => socket.end(JSON.stringify({ folder, port })),
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

/** The databases of the server of this run. */
export async function sharedDatabases(path: string): Promise<Databases> {
  const answer = (await json(connect(path))) as { folder: string; port: number; error?: string };
  if (answer.error !== undefined) throw new Error(answer.error);
  return databasesOf(answer);
}

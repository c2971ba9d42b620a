import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { resultOf } from '../helpers/history';
import { times, upTo } from '../helpers/long';
import { noted } from '../helpers/noted';
import type { Cluster } from '../helpers/postgres';
import { makePerson, serveBuilt } from '../helpers/program';
import type { Call } from '../helpers/service';
import { onPostgres, openBeside } from '../helpers/stores';

const CLIENTS = 64;
const CONNECTIONS = 10;
/** Milliseconds that a request may take. The service gives up a database after nine seconds, and a hung request after 30. */
const LIMIT = 25_000;

interface FaultContext {
  readonly cluster: Cluster;
  /** Ends so many connections of the service, and gives it time to make new ones. */
  readonly cut: (count: number) => Promise<unknown>;
  readonly refused: () => number;
}

/** Stops the server while the connections are new: the driver then sends each statement for the first time. */
async function stop({ cluster, cut }: FaultContext, mode: 'fast' | 'immediate'): Promise<void> {
  const cutting = async () => {
    for (;;) await cut(CONNECTIONS);
  };
  await Promise.all([cluster.stop(mode), cutting().catch(() => undefined)]);
}

const faults: readonly [string, (context: FaultContext) => Promise<unknown>][] = [
  [
    'ends connections for seconds',
    async ({ cut }) => {
      for (const _ of upTo(150)) await cut(2);
    },
  ],
  ['is restarted', (context) => stop(context, 'fast').then(context.cluster.start)],
  ['crashes', (context) => stop(context, 'immediate').then(context.cluster.start)],
  [
    'is away for seconds',
    async (context) => {
      const before = context.refused();
      await stop(context, 'fast');
      await expect
        .poll(() => context.refused() - before, { message: 'clients are refused' })
        .toBeGreaterThan(5 * CLIENTS);
      await context.cluster.start();
    },
  ],
];

onPostgres((cluster) => {
  test.each(faults)('while PostgreSQL %s no request hangs; later all succeed', async (_, fault) => {
    const name = await cluster().createDatabase();
    const admin = await openBeside(cluster().localUrl('postgres'));
    onTestFinished(() => admin.close());
    const { env } = makePerson();
    const { url, token, stop, kill } = await serveBuilt({ ...env, DATABASE_URL: cluster().url(name) }, [
      '--rate-limit',
      '100000/s',
    ]);
    onTestFinished(() => kill().then(() => undefined));
    const connections = async () => {
      const [row] = await admin.sql<{ count: number }>`
          SELECT count(*) FROM pg_stat_activity
          WHERE datname = ${name} AND backend_type = 'client backend'`;
      return row?.count;
    };
    const cut = async (count: number) => {
      await admin.sql`
          SELECT pg_terminate_backend(pid) FROM (
            SELECT pid FROM pg_stat_activity
            WHERE datname = ${name} AND backend_type = 'client backend'
            ORDER BY random() LIMIT ${count}) AS connections`;
      await pause(20);
    };

    let [loading, refused] = [true, 0];
    const broken: string[] = [];
    const ask = async (_client: number, method: string, path: string, how: Call = {}) => {
      const body = how.body ? { body: JSON.stringify(how.body) } : {};
      const headers = { ...how.headers, 'content-type': 'application/json' };
      const signal = AbortSignal.timeout(LIMIT);
      try {
        const response = await fetch(url + path, { method, headers, ...body, signal });
        const { status } = response;
        const text = await response.text();
        const json = text.startsWith('{') ? JSON.parse(text) : undefined;
        if (status >= 500 && status !== 503) broken.push(`${method} ${path}: ${status}`);
        if (status !== 503) return { status, json };
        refused += 1;
        // Without a pause the clients would take all of the machine until the server is there again.
        await pause(20);
        if (loading) return { status, json };
      } catch (error) {
        broken.push(`${method} ${path}: ${error} ${(error as Error).cause ?? ''}`);
      }
      throw new Error('not served');
    };

    const pushes = noted(ask, resultOf);
    const owner = { headers: { authorization: `Bearer ${token}` } };
    const latest: string[] = [];
    const steps: ((client: number, count: number) => Promise<unknown>)[] = [
      async (client, count) => {
        const push = { expire_after_views: 1 + (count % 3), payload: `${client} ${count}` };
        latest[client] = await pushes.create(push, client % 2 ? owner : {}, client);
      },
      (client) => ask(client, 'GET', `/api/v2/pushes/${latest[client]}/preview`),
      (client) => {
        const push = latest[client] ?? '';
        // Owners read their own pushes without taking a view.
        return client % 2 ? ask(client, 'GET', `/api/v2/pushes/${push}`, owner) : pushes.retrieve(client, push);
      },
      (client) => ask(client, 'GET', '/api/v2/pushes/active', owner),
      (client) => pushes.retrieve(client, latest[(client % CLIENTS) + 1] ?? ''),
      (client) => ask(client, 'GET', `/api/v2/pushes/${latest[client]}/audit`, owner),
      (client, count) => {
        const key = `key-of-${client}-${count}`.padEnd(24, 'x');
        return pushes.retrieve(client, latest[(client % CLIENTS) + 1] ?? '', { key });
      },
      (client) => ask(client, 'GET', '/api/v2/pushes/expired', owner),
      (client) => pushes.expire(client, latest[client] ?? '', owner),
      (client) => ask(client, 'GET', '/up'),
    ];
    const work = async (client: number) => {
      for (let count = 0; loading; count += 1) {
        const step = latest[client] === undefined ? 0 : (client + count) % steps.length;
        await steps[step]?.(client, count).catch(() => undefined);
      }
    };

    for (const _round of upTo(times(4))) {
      loading = true;
      const working = Promise.all(upTo(CLIENTS).map(work));
      try {
        await expect.poll(connections, { message: 'all connections are there' }).toBe(CONNECTIONS);
        await fault({ cluster: cluster(), cut, refused: () => refused });
        await expect.poll(connections, { message: 'all connections are there' }).toBe(CONNECTIONS);
      } finally {
        loading = false;
        await working;
      }
      const body = { push: { payload: 'x' } };
      const answers = upTo(40).map((client) => ask(client, 'POST', '/api/v2/pushes', { body }));
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(40).fill(201));
    }
    expect(broken).toEqual([]);
    pushes.judge();
    expect((await stop()).code).toBe(0);
  });
});

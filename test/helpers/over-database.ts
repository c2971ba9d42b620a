import { onTestFinished } from 'vitest';
import { createApp } from '../../src/server/app';
import type { App } from '../../src/server/http/app-options';
import { instanceKey } from '../../src/server/keys/instance-key';
import { Keyring, Links } from '../../src/server/keys/keyring';
import { Vault } from '../../src/server/keys/vault';
import { createLog } from '../../src/server/ops/log';
import { createMetrics, health } from '../../src/server/ops/metrics';
import { Files } from '../../src/server/rules/files';
import { Housekeeping } from '../../src/server/rules/housekeeping';
import { Owners } from '../../src/server/rules/owners';
import { Pushes } from '../../src/server/rules/pushes';
import { Requests } from '../../src/server/rules/requests';
import { Space } from '../../src/server/rules/space';
import { checkSettings, type RateLimit } from '../../src/server/service-settings';
import { migrate } from '../../src/server/store/database';
import { insertKey } from '../../src/server/store/key-rows';
import type { Database, Sql } from '../../src/server/store/sql';
import { openMemory } from '../../src/server/store/sqlite';
import { askedOf, defaults, QUICK, type TestClock, testClock } from './service';

export interface OverDatabase {
  readonly app: App;
  fetch(request: Request): Promise<Response>;
  readonly owners: Owners;
  /** Resolves when what was to be noted is noted. */
  finish(): Promise<void>;
  /** Answers how many pushes it ended. */
  sweep(): Promise<number>;
  readonly clock: TestClock;
  readonly lines: string[];
}

const KEY = instanceKey(Buffer.alloc(32, 7));

/** The embedded service in process, on a database of the test's making. */
export function overDatabase(database: Database, rateLimit?: RateLimit): OverDatabase {
  const clock = testClock();
  const lines: string[] = [];
  const line = (text: string) => void lines.push(text);
  const log = createLog({ log: line, warn: line, now: clock.now });
  const events = createMetrics();
  const links = new Links([{ number: 1, bytes: Buffer.alloc(32, 8) }]);
  const vault = new Vault(new Keyring(KEY, links), QUICK);
  const checked = checkSettings(defaults);
  const space = new Space(database, 0, line);
  const shared = { ...checked, database, vault, space, now: () => clock.now().getTime(), events };
  const files = new Files({ ...shared, report: log.failure });
  const owners = new Owners(database, clock.now);
  const pushes = new Pushes({ ...shared, files, report: log.failure });
  const requests = new Requests({ ...shared, files, report: log.failure });
  const settings = {
    ...{ ...defaults, ...checked, rateLimit, version: '0.1.0' },
    ...{ anonymousFiles: false, site: { title: undefined, logo: undefined, contact: undefined } },
  };
  const isUp = health(async () => void (await database.sql`SELECT 1`));
  const app = createApp({
    ...{ pushes, requests, files, owners, isUp, events },
    ...{ now: clock.now, log, settings },
  });
  return {
    app,
    fetch: (request) => app(request, { ip: '127.0.0.1' }),
    owners,
    finish: async () => {
      await requests.finish();
      await pushes.finish();
    },
    sweep: () => {
      const setClock = async () => true;
      return new Housekeeping({ ...shared, files, setClock, report: log.failure }).sweep();
    },
    clock,
    lines,
  };
}

/**
 * The same on SQLite in memory, for the test that runs, with an owner `admin`.
 * @param over what stands between the service and the database
 */
export async function overNoted(over: (database: Database) => Database = (database) => database) {
  const { database, statements } = await notedDatabase();
  onTestFinished(() => database.close());
  const service = overDatabase(over(database));
  const adminToken = await service.owners.add('admin');
  return { ...service, ...askedOf({ ...service, adminToken }), database, statements, adminToken };
}

/** SQLite in memory that notes each statement, its values left out. */
export async function notedDatabase(): Promise<{ database: Database; statements: string[] }> {
  const database = await openMemory((load) => load());
  await migrate(database);
  await insertKey(database.sql, KEY.id);
  const statements: string[] = [];
  const noting =
    (sql: Sql): Sql =>
    (strings, ...values) => {
      statements.push(strings.join('?').replace(/\s+/g, ' ').trim());
      return sql(strings, ...values);
    };
  return {
    statements,
    database: {
      ...bound(database),
      sql: noting(database.sql),
      transaction: (work, how) => database.transaction((sql) => work(noting(sql)), how),
      exclusively: (work) => database.exclusively((sql) => work(noting(sql))),
    },
  };
}

/** A database that fails each statement with that error. */
export async function failingDatabase(error: Error): Promise<Database> {
  const database = await openMemory((load) => load());
  const fail = () => Promise.reject(error);
  return { ...bound(database), sql: fail, transaction: fail, exclusively: fail, scrub: fail };
}

function bound(database: Database): Database {
  return {
    dialect: database.dialect,
    sql: database.sql,
    transaction: (work, how) => database.transaction(work, how),
    exclusively: (work) => database.exclusively(work),
    solely: (work) => database.solely(work),
    alone: () => database.alone(),
    scrub: () => database.scrub(),
    time: () => database.time(),
    free: () => database.free(),
    unused: () => database.unused(),
    setAside: () => database.setAside(),
    close: () => database.close(),
  };
}

import { onTestFinished } from 'vitest';
import { createApp } from '../../src/server/app';
import { instanceKey } from '../../src/server/keys/instance-key';
import { Keyring, Links } from '../../src/server/keys/keyring';
import { Vault } from '../../src/server/keys/vault';
import { createLog } from '../../src/server/ops/log';
import { createMetrics, health } from '../../src/server/ops/metrics';
import { Owners } from '../../src/server/owners/owners';
import { Pushes } from '../../src/server/pushes/pushes';
import { Requests } from '../../src/server/requests/requests';
import { Files } from '../../src/server/rules/files';
import { Housekeeping } from '../../src/server/rules/housekeeping';
import { Space } from '../../src/server/rules/space';
import { checkSettings } from '../../src/server/service-settings';
import { migrate } from '../../src/server/store/database';
import { insertKey } from '../../src/server/store/key-rows';
import { type Database, plain, type Sql } from '../../src/server/store/sql';
import { openMemory } from '../../src/server/store/sqlite';
import { IssuerKeys } from '../../src/server/trust/issuer-keys';
import { TokenExchange } from '../../src/server/trust/token-exchange';
import { askedOf, defaults, QUICK, testClock } from './service';

const KEY = instanceKey(Buffer.alloc(32, 7));

/** The embedded service in process, on a database of the test's making. */
export function overDatabase(database: Database) {
  const clock = testClock();
  const lines: string[] = [];
  const line = (text: string) => void lines.push(text);
  const log = createLog({ log: line, warn: line, now: clock.now });
  const events = createMetrics();
  const links = new Links([{ number: 1, bytes: Buffer.alloc(32, 8) }]);
  const checked = checkSettings(defaults);
  const now = () => clock.now().getTime();
  const shared = {
    ...checked,
    database,
    events,
    report: log.failure,
    vault: new Vault(new Keyring(KEY, links), QUICK),
    space: new Space(database, 0, line, now),
    now,
  };
  const files = new Files(shared);
  const owners = new Owners(database, clock.now);
  const pushes = new Pushes({ ...shared, files });
  const requests = new Requests({ ...shared, files });
  const keys = new IssuerKeys({ now: clock.now });
  const exchange = new TokenExchange({ database, owners, keys, now: clock.now }, 'https://pw.test');
  const site = { title: undefined, logo: undefined, contact: undefined };
  const isUp = health(async () => void (await database.sql`SELECT 1`));
  const app = createApp({
    pushes,
    requests,
    files,
    owners,
    exchange,
    isUp,
    events,
    log,
    now: clock.now,
    settings: { ...checked, site, version: '0.1.0' },
  });
  return {
    app,
    owners,
    clock,
    lines,
    fetch: (request: Request) => app(request, { ip: '127.0.0.1' }),
    finish: async () => {
      await requests.finish();
      await pushes.finish();
    },
    sweep: () => new Housekeeping({ ...shared, files, setClock: async () => true }).sweep(),
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
  const { token: adminToken } = await service.owners.add('admin');
  return { ...service, ...askedOf({ ...service, adminToken }), database, statements, adminToken };
}

/** SQLite in memory that notes each statement, its values left out. */
async function notedDatabase() {
  const own = await openMemory((load) => load());
  await migrate(own);
  await insertKey(own.sql, KEY.id);
  const statements: string[] = [];
  const noting =
    (sql: Sql): Sql =>
    (strings, ...values) => {
      statements.push(strings.join('?').replace(/\s+/g, ' ').trim());
      return sql(strings, ...values);
    };
  const database: Database = {
    ...own,
    sql: noting(own.sql),
    transaction: (work, how) => own.transaction((sql) => work(noting(sql)), how),
    exclusively: (work) => own.exclusively((sql) => work(noting(sql))),
  };
  return { database, statements };
}

/** Has a statement fail in SQLite, such as `DELETE ON chunks`, until what it returns is called. */
export async function stuck({ sql }: Database, when: string): Promise<() => Promise<unknown>> {
  await sql(plain(`CREATE TRIGGER stuck BEFORE ${when} BEGIN SELECT RAISE(ABORT, 'stuck'); END`));
  return () => sql`DROP TRIGGER stuck`;
}

export async function failingDatabase(error: Error): Promise<Database> {
  const fail = () => Promise.reject(error);
  const database = await openMemory((load) => load());
  return { ...database, sql: fail, transaction: fail, exclusively: fail, scrub: fail };
}

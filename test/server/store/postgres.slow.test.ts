import { randomBytes } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { ServiceError, ServiceRefusal } from '../../../src/server/service-errors';
import { migrate } from '../../../src/server/store/database';
import { readAddress } from '../../../src/server/store/pg-url';
import { openPostgres } from '../../../src/server/store/postgres';
import { type Database, plain } from '../../../src/server/store/sql';
import { deferred } from '../../helpers/deferred';
import { listen, relay } from '../../helpers/listen';
import { upTo } from '../../helpers/long';
import { folders } from '../../helpers/memory';
import { PASSWORD } from '../../helpers/postgres';
import { opened } from '../../helpers/service';
import { onPostgres } from '../../helpers/stores';
import { add, createThings, namesIn } from './things';

const newFolder = folders();

onPostgres((cluster) => {
  let url: string;
  let database: Database;

  async function open(address = url, patience?: number): Promise<Database> {
    const opened = await openPostgres(() => readAddress(address), patience);
    onTestFinished(() => opened.close());
    return opened;
  }

  beforeEach(async () => {
    url = cluster().url(await cluster().createDatabase());
    database = await open();
    await createThings(database);
  });

  const names = () => namesIn(database);

  const refused = async (work: Promise<unknown>) => {
    const error = await work.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ServiceRefusal);
    const { kind, details } = error as ServiceRefusal;
    return [kind, details.retryAfter];
  };

  test('a statement that failed unheard undoes the transaction, which says so', async () => {
    const work = database.transaction(async (sql) => {
      await add(sql, 'a');
      await add(sql, 'a').catch(() => undefined);
    });
    await expect(work).rejects.toThrow('nothing was committed');
    expect(await names()).toEqual([]);
  });

  test('two that wait for each other are both done', async () => {
    for (const name of ['a', 'b']) await add(database.sql, name);
    let [runs, arrived] = [0, 0];
    const both = deferred();
    const change = (first: string, second: string) =>
      database.transaction(async (sql) => {
        runs += 1;
        await sql`UPDATE things SET at = at + 1 WHERE name = ${first}`;
        arrived += 1;
        if (arrived >= 2) both.resolve();
        await both.promise;
        await sql`UPDATE things SET at = at + 1 WHERE name = ${second}`;
      });
    await Promise.all([change('a', 'b'), change('b', 'a')]);
    // One of them again at least; both, where the server notices for both at once.
    expect(runs).toBeGreaterThanOrEqual(3);
    expect(await database.sql`SELECT name, at FROM things ORDER BY name`).toEqual([
      { name: 'a', at: 2 },
      { name: 'b', at: 2 },
    ]);
  });

  test.each([
    [4, 'is done'],
    [5, 'is refused'],
  ])('a transaction that runs into %i conflicts %s, after five tries', async (conflicts, end) => {
    await database.sql`
      CREATE FUNCTION conflict() RETURNS int LANGUAGE plpgsql AS
        'BEGIN RAISE EXCEPTION USING ERRCODE = ''40001''; END'`;
    let runs = 0;
    const work = database.transaction(async (sql) => {
      runs += 1;
      if (runs <= conflicts) await sql`SELECT conflict()`;
      return 'is done';
    });
    if (end === 'is done') expect(await work).toBe(end);
    else expect(await refused(work)).toEqual(['busy', 5]);
    expect(runs).toBe(5);
  });

  test('two groups of up to 64 transactions run at once, and the next when one of them has ended', async () => {
    const [gate, groups] = [deferred(), new Map<unknown, number>()];
    const begun = () => [...groups.values()];
    const patient = await open(url, 600_000);
    const all = upTo(129).map((n) =>
      patient.transaction(
        async (sql) => {
          const [row] = await sql<{ id: number }>`SELECT txid_current() AS id, ${n}::int AS n`;
          groups.set(row?.id, (groups.get(row?.id) ?? 0) + 1);
          await gate.promise;
        },
        { key: `${n}` },
      ),
    );
    await expect.poll(begun, { message: 'two whole groups' }).toEqual([64, 64]);
    // A third group would have begun before these are answered.
    for (const _ of upTo(20)) await database.sql`SELECT 1`;
    expect(begun()).toEqual([64, 64]);
    gate.resolve();
    await Promise.all(all);
    expect(begun()).toEqual([64, 64, 1]);
  });

  test('statements that wait for a connection end with it, and each has another in its place', async () => {
    const slots = 10;
    for (const round of upTo(slots)) {
      let runs = 0;
      await database.transaction(async (sql) => {
        runs += 1;
        if (runs > 1) return;
        const end = sql`SELECT pg_terminate_backend(pg_backend_pid())`;
        const waiting = upTo(4).map((n) => sql`SELECT ${n}::int + ${round}::int AS sum`);
        const outcomes = await Promise.allSettled([end, ...waiting]);
        expect(outcomes.map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
        await Promise.all(waiting);
      });
      expect(runs).toBe(2);
    }
    const [all, arrived] = [deferred(), new Set<unknown>()];
    const use = (n: number) =>
      database.transaction(async (sql) => {
        const [row] = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid, ${n}::int AS n`;
        if (arrived.add(row?.pid).size === slots) all.resolve();
        await all.promise;
      });
    await Promise.all(upTo(slots).map(use));
  });

  test('several that start at once on an empty database make its tables once', async () => {
    const many = await Promise.all([open(), open(), open(), open()]);
    await Promise.all(many.map((one) => migrate(one)));
    expect(await database.sql`SELECT count(*) AS made FROM pushes`).toEqual([{ made: 0 }]);
  });

  /** As its superuser, on a connection of its own; names cannot be parameters. */
  async function administer(...lines: string[]): Promise<void> {
    const admin = await openPostgres(() => readAddress(cluster().localUrl('postgres')));
    for (const line of lines) await admin.sql(plain(line));
    await admin.close();
  }

  test('a service says why it is away, once, and when it is back, and reads its password again', async () => {
    const data = await newFolder();
    const [file, user] = [join(data, 'password'), `u_${randomBytes(6).toString('hex')}`];
    await administer(
      `CREATE USER ${user} PASSWORD 'one'`,
      `ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO ${user}`,
    );
    await database.sql`DROP TABLE things`;
    await writeFile(file, 'one\n');
    const service = await opened({
      data,
      database: url.replace(/\/\/.*@/, `//${user}@`),
      env: { PWPUSH_DB_PASSWORD_FILE: file },
    });
    const push = async () => {
      const body = { push: { payload: 'x' } };
      return (await service.call('POST', '/api/v2/pushes', { body })).status;
    };
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${user}'`;
    const states: [begin: () => Promise<unknown>, end: () => Promise<unknown>, code: string][] = [
      [() => administer(`ALTER ROLE ${user} PASSWORD 'two'`, cut), () => writeFile(file, 'two\n'), '28P01'],
      [() => rename(file, `${file}2`).then(() => administer(cut)), () => rename(`${file}2`, file), 'no such file'],
      [
        () => administer(`ALTER ROLE ${user} CONNECTION LIMIT 0`, cut),
        () => administer(`ALTER ROLE ${user} CONNECTION LIMIT -1`),
        '53300',
      ],
      [
        () => administer(`ALTER ROLE ${user} SET default_transaction_read_only = on`, cut),
        () => administer(`ALTER ROLE ${user} RESET default_transaction_read_only`),
        '25006',
      ],
      [() => cluster().stop(), () => cluster().start(), 'ECONNREFUSED'],
    ];
    for (const [begin, end, code] of states) {
      service.warnings.length = 0;
      await begin();
      // The health check alone is enough for the log.
      expect((await service.call('GET', '/up')).status).toBe(503);
      await expect
        .poll(() => service.warnings, { message: 'the outage is told' })
        .toEqual([expect.stringContaining(code)]);
      const statuses = [await push(), await push(), await push()];
      await service.service.housekeeping.sweep().catch(() => undefined);
      await end();
      expect([code, statuses, await push(), await push()]).toEqual([code, [503, 503, 503], 201, 201]);
      // A check that began before the last failure proves nothing: the next request has it made again.
      const warnings = () => service.call('GET', '/up').then(() => service.warnings);
      await expect
        .poll(warnings, { message: 'the end of the outage is told' })
        .toEqual([expect.stringContaining(code), 'the database is available again']);
    }
    expect(service.lines.join('\n')).not.toMatch(/Refusal| error /);
  });

  describe('when the server goes', () => {
    afterEach(() =>
      cluster()
        .start()
        .catch(() => undefined),
    );

    test('nothing is half done, and all goes on later', async () => {
      let stopped = false;
      const broken = database.transaction(async (sql) => {
        await add(sql, 'broken');
        if (!stopped) await cluster().stop('immediate');
        stopped = true;
        await add(sql, 'half');
      });
      const away = ['away', 5];
      expect(await refused(broken)).toEqual(away);
      expect(await refused(database.sql`SELECT 1`)).toEqual(away);
      expect(await refused(add(database.sql, 'x'))).toEqual(away);
      const many = Array.from({ length: 100 }, () => refused(names()));
      expect(await Promise.all(many)).toEqual(Array(100).fill(away));
      await cluster().start();
      expect(await names()).toEqual([]);
      await database.transaction((sql) => add(sql, 'later'));
      expect(await names()).toEqual(['later']);
    });

    test('a transaction that had not been committed is done again on a new connection', async () => {
      let runs = 0;
      await database.transaction(async (sql) => {
        runs += 1;
        await add(sql, 'a');
        if (runs > 1) return;
        await cluster().stop();
        await cluster().start();
        await add(sql, 'b');
      });
      expect([runs, await names()]).toEqual([2, ['a']]);
    });

    test('what was being committed is not done again', async () => {
      await database.sql`
        CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'`;
      await database.sql`
        CREATE CONSTRAINT TRIGGER cutting AFTER INSERT ON things
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cut()`;
      let runs = 0;
      const cut = database.transaction((sql) => {
        runs += 1;
        return add(sql, 'a');
      });
      expect([await refused(cut), runs, await names()]).toEqual([['away', 5], 1, []]);
    });
  });

  test('a server that hangs is given up, by all who wait, and used again when it goes on', async () => {
    let hung = false;
    const { port, dropAll, close } = await listen(
      createServer((client) => {
        const server = relay(client, cluster().port);
        client.on('data', (bytes) => hung || server.write(bytes));
        server.on('data', (bytes) => hung || client.write(bytes));
      }),
    );
    onTestFinished(close);
    const patient = await open(url.replace(`:${cluster().port}/`, `:${port}/`), 500);
    // The limit is for what hangs: on a machine that is held up, others may reach it too.
    const things = () => namesIn(patient);
    await expect.poll(things, { message: 'the database answers' }).toEqual([]);
    hung = true;
    const writes = Array.from({ length: 15 }, () => refused(patient.transaction((sql) => add(sql, 'a'))));
    const reads = Array.from({ length: 15 }, () => refused(patient.sql`SELECT 1`));
    const answers = await Promise.all([...writes, ...reads]);
    expect(new Set(answers.map(String))).toEqual(new Set(['away,5']));
    hung = false;
    dropAll();
    await expect.poll(things, { message: 'the database answers' }).toEqual([]);
  });

  test('a lock that others keep is given up, and the statement with it', async () => {
    const other = await open();
    await add(database.sql, 'a');
    await other.transaction(async (sql) => {
      await sql`UPDATE things SET at = 1`;
      expect(await refused(database.sql`UPDATE things SET at = 2`)).toEqual(['busy', 5]);
    });
    expect(await database.sql`SELECT at FROM things`).toEqual([{ at: 1 }]);
  });

  test('what is wrong at the start is said, without the password', async () => {
    const listener = await listen(createServer((socket) => socket.end()));
    const silent = await listen(
      createServer((client) => {
        const server = relay(client, cluster().port);
        server.pipe(client);
        // What is not of the login is a query.
        client.on('data', (bytes) => bytes[0] === 'Q'.charCodeAt(0) || server.write(bytes));
      }),
    );
    const ascii = await cluster().createDatabase('template0', 'ENCODING SQL_ASCII');
    for (const [address, said] of [
      [url.replace('postgres:MARKER', 'postgres:MARKER2'), '28P01'],
      [cluster().url('nothing'), '"nothing"'],
      [cluster().url(ascii), 'SQL_ASCII'],
      [`${url}?sslmode=require`, 'TLS'],
      ['postgres://u:MARKER@127.0.0.1:1/x', 'ECONNREFUSED'],
      [`postgres://u:MARKER@127.0.0.1:${listener.port}/x`, 'ECONNRESET'],
      [`${url.replace(/:\d+\//, `:${silent.port}/`)}?connect_timeout=2`, 'ETIMEDOUT'],
    ] as const) {
      const error = await open(address).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ServiceError);
      const { message, hint = '', stack = '' } = error as ServiceError;
      expect(message).toContain(said);
      for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), 'MARKER'])
        expect(`${message} ${hint} ${stack}`).not.toContain(secret);
    }
  });

  test('hosts that are not there are passed over', async () => {
    const second = await open(url.replace('@127.0.0.1', '@127.0.0.1:1,127.0.0.1'));
    expect(await namesIn(second)).toEqual([]);
  });
});

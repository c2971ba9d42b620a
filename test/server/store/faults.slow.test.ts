import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { backup } from '../../../src/server/ops/database-copy';
import { ServiceError, ServiceRefusal } from '../../../src/server/service-errors';
import { cuttingProxy } from '../../helpers/cutting-proxy';
import { mountDisk, needsDisk } from '../../helpers/disk';
import { eachFault } from '../../helpers/faults';
import { resultOf } from '../../helpers/history';
import { long } from '../../helpers/long';
import { folders } from '../../helpers/memory';
import { onLinux } from '../../helpers/needs';
import { noted } from '../../helpers/noted';
import { seed } from '../../helpers/seed';
import { call, type TestService, testService } from '../../helpers/service';
import { onPostgres, openBeside } from '../../helpers/stores';

const newFolder = folders();

/** A status, if it is not given. */
async function payloadOf(service: TestService, token: string): Promise<string | number | null> {
  const { status, json } = await service.call('GET', `/api/v2/pushes/${token}`);
  return status === 200 ? json.payload : status;
}

const push = (service: TestService, payload: string, more = {}) =>
  service.call('POST', '/api/v2/pushes', { body: { push: { payload, ...more } } });

/** Undefined if it does not start, and says why. */
const started = (settings: Parameters<typeof testService>[0]) =>
  testService(settings).catch((error: unknown) => {
    // The second once it is open, and its owners are added.
    expect([ServiceError, ServiceRefusal].some((one) => error instanceof one)).toBe(true);
    return undefined;
  });

describe('SQLite', () => {
  test('a backup whose files fail is not there, and leaves nothing', onLinux, async () => {
    const [data, into] = [await newFolder(), await newFolder()];
    const service = await testService({ data });
    const file = join(into, 'copy.db');
    const failed = await eachFault(async (failing) => {
      const bytes = await failing(into, () => backup({ data }, { file, force: false }, {})).catch(
        (error: unknown) => expect(error).toBeInstanceOf(ServiceError),
      );
      expect(readdirSync(into)).toEqual(typeof bytes === 'number' ? ['copy.db'] : []);
      rmSync(file, { force: true });
    });
    expect([...new Set(failed.map((one) => one.replace(/ .*/, '')))].sort()).toEqual([
      'fsync',
      'link',
      'open',
    ]);
    await service.close();
  });

  test('a truncated key is refused, and left as it is', async () => {
    const data = await newFolder();
    await (await testService({ data })).close();
    const key = join(data, 'instance.key');
    for (let bytes = 43; bytes >= 0; bytes -= 1) {
      truncateSync(key, bytes);
      expect(await started({ data })).toBe(undefined);
      expect(statSync(key).size).toBe(bytes);
    }
  });

  test('a file that is damaged while it serves gives nothing wrong, and is made no worse', async () => {
    const data = await newFolder();
    const file = join(data, 'pwpush.db');
    const before = await testService({ data });
    const payloads = Array.from({ length: 100 }, (_, n) => `${n} `.repeat(1000));
    const tokens: string[] = [];
    for (const payload of payloads) tokens.push(await before.create({ payload }));
    await before.close();
    copyFileSync(file, join(data, 'copy'));
    const service = await testService({ data });
    const bytes = readFileSync(file);
    bytes.fill(0, bytes.length >> 1);
    writeFileSync(file, bytes, { flag: 'r+' });
    const got = await Promise.all(tokens.map((token) => payloadOf(service, token)));
    for (const [at, one] of got.entries()) expect([payloads[at], 500]).toContain(one);
    expect(got).toContain(500);
    // As libsql and as Node.js name it.
    expect(service.lines.join('\n')).toMatch(/SQLITE_CORRUPT|ERR_SQLITE_ERROR/);
    await service.close();
    for (const name of ['-wal', '-shm']) rmSync(file + name, { force: true });
    copyFileSync(join(data, 'copy'), file);
    const restored = await testService({ data });
    const again = await Promise.all(tokens.map((token) => payloadOf(restored, token)));
    expect(again).toEqual(payloads);
    await restored.close();
  });
});

onPostgres((cluster) => {
  test('a connection that is cut anywhere gives no view twice, and loses no push that was created', async () => {
    const database = cluster().url(await cluster().createDatabase());
    const data = await newFolder();
    const direct = await testService({ data, database });
    const proxy = await cuttingProxy(cluster().port);
    const through = database.replace(`:${cluster().port}/`, `:${proxy.port}/`);
    const once = { expire_after_views: 1 };
    const step = long ? 1000 : 2000;
    const seen = new Set<string>();
    let withKey = false;
    await proxy.eachCut({ first: seed % step, step }, async () => {
      const service = await started({ data, database: through });
      if (!service) return void seen.add('not started');
      const pushes = noted((n, ...how) => call(n === 0 ? service : direct, ...how), resultOf);
      const token = await pushes.create(once).catch(() => pushes.create(once, {}, 1));
      // Each second reader has an Idempotency-Key, and is given the view whatever was cut.
      withKey = !withKey;
      const how = withKey ? { key: `key-of-${token}` } : {};
      const given = [await pushes.retrieve(0, token, how), await pushes.retrieve(0, token, how)];
      await service.close();
      given.push(await pushes.retrieve(1, token, how), await pushes.retrieve(1, token));
      pushes.judge();
      seen.add(given.map(({ status, json }) => (status === 200 ? json.payload : status)).join());
    });
    expect([...seen]).toEqual(expect.arrayContaining(['x,,,', 'x,x,x,']));
    await proxy.close();
    await direct.close();
  });

  /** As its superuser; names cannot be parameters. */
  async function administer(name: string, ...lines: string[]): Promise<void> {
    const admin = await openBeside(cluster().localUrl(name));
    for (const line of lines) await admin.sql(Object.assign([line], { raw: [line] }));
    await admin.close();
  }

  test.each([1, 2, 10])('with %i connections it works', async (limit) => {
    const name = await cluster().createDatabase();
    const role = `few${limit}`;
    await administer(
      name,
      `CREATE ROLE ${role} LOGIN PASSWORD 'few' CONNECTION LIMIT ${limit}`,
      `ALTER DATABASE ${name} OWNER TO ${role}`,
    );
    const database = `postgres://${role}:few@127.0.0.1:${cluster().port}/${name}`;
    const service = await testService({ data: await newFolder(), database });
    const pushes = await Promise.all(Array.from({ length: 40 }, (_, n) => push(service, `${n}`)));
    const statuses = pushes.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([201]));
    const got = await Promise.all(pushes.map(({ json }) => payloadOf(service, json.url_token)));
    expect(got).toEqual(pushes.map((_, n) => `${n}`));
    await service.close();
  });

  test('where no connection is left, it does not start, and says why', async () => {
    const name = await cluster().createDatabase();
    await administer(name, `CREATE ROLE unwanted LOGIN PASSWORD 'few' CONNECTION LIMIT 0`);
    const database = `postgres://unwanted:few@127.0.0.1:${cluster().port}/${name}`;
    const error = await testService({ data: await newFolder(), database }).catch(
      (reason) => reason,
    );
    expect([error instanceof ServiceError, String(error)]).toEqual([
      true,
      expect.stringContaining('53300'),
    ]);
  });

  test(
    'on a full disk, pushes are refused and given, and created again when there is space',
    needsDisk,
    async () => {
      const disk = mountDisk(48);
      if (process.geteuid?.() === 0) execFileSync('chown', ['postgres:', disk.folder]);
      const name = await cluster().createDatabase();
      await administer(
        name,
        `CREATE TABLESPACE small LOCATION '${disk.folder}'`,
        `ALTER DATABASE ${name} SET default_tablespace = small`,
      );
      const database = cluster().localUrl(name);
      const service = await testService({ data: await newFolder(), database });
      disk.fill(2 ** 20);
      const tokens: string[] = [];
      const payload = () => randomBytes(48_000).toString('base64');
      for (;;) {
        const { status, json, headers } = await push(service, payload());
        if (status === 201) tokens.push(json.url_token);
        else {
          expect([status, headers.get('retry-after')]).toEqual([503, '60']);
          break;
        }
      }
      expect(await payloadOf(service, tokens[0] ?? '')).toHaveLength(64_000);
      disk.clear();
      expect((await push(service, 'x')).status).toBe(201);
      expect((await service.call('DELETE', `/api/v2/pushes/${tokens[0]}`)).status).toBe(200);
      await service.close();
      await administer(name, 'DROP SCHEMA public CASCADE', 'DROP TABLESPACE small');
      disk.remove();
    },
  );
});

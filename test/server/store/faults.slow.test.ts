import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ServiceError, ServiceRefusal } from '../../../src/server/service-errors';
import { plain } from '../../../src/server/store/sql';
import { cuttingProxy } from '../../helpers/cutting-proxy';
import { mountDisk, mountFailingDisk, needsDisk, needsFailingDisk } from '../../helpers/disk';
import { resultOf } from '../../helpers/history';
import { long } from '../../helpers/long';
import { folders } from '../../helpers/memory';
import { allOf } from '../../helpers/needs';
import { noted } from '../../helpers/noted';
import { needsPostgres, startCluster } from '../../helpers/postgres';
import { seed } from '../../helpers/seed';
import { at, type Call, call, filePart, opened, type TestService } from '../../helpers/service';
import { onPostgres, openBeside } from '../../helpers/stores';

const newFolder = folders();

async function payloadOf(service: TestService, token: string): Promise<string | number | null> {
  const { status, json } = await service.retrieve(token);
  return status === 200 ? json.payload : status;
}

const push = (service: TestService, payload: string, more = {}) =>
  service.call('POST', '/api/v2/pushes', { body: { push: { payload, ...more } } });

/** Undefined if it does not start, and says why. */
const started = (settings: Parameters<typeof opened>[0]) =>
  opened(settings).catch((error: unknown) => {
    // The second once it is open, and its owners are added.
    expect([ServiceError, ServiceRefusal].some((one) => error instanceof one)).toBe(true);
    return undefined;
  });

describe('SQLite', () => {
  test('a file that is damaged while it serves gives nothing wrong', async () => {
    const data = await newFolder();
    const file = join(data, 'pwpush.db');
    const before = await opened({ data });
    const payloads = Array.from({ length: 100 }, (_, n) => `${n} `.repeat(1000));
    const tokens: string[] = [];
    for (const payload of payloads) tokens.push(await before.create({ payload }));
    await before.close();
    const service = await opened({ data });
    const bytes = readFileSync(file);
    bytes.fill(0, bytes.length >> 1);
    writeFileSync(file, bytes, { flag: 'r+' });
    const got = await Promise.all(tokens.map((token) => payloadOf(service, token)));
    for (const [at, one] of got.entries()) expect([payloads[at], 503]).toContain(one);
    expect(got).toContain(503);
    const line = 'the database is unavailable (SQLITE_CORRUPT); requests get 503';
    expect(service.warnings).toEqual([line]);
  });

  test('a disk that turns read-only is told of, and nothing is lost', needsFailingDisk, async () => {
    const disk = mountFailingDisk(32);
    onTestFinished(() => disk.remove());
    const data = join(disk.folder, 'data');
    const service = await opened({ data, reserve: 0 });
    const one = await service.createOwn({ payload: 'hunter1', expire_after_views: 1 });
    const two = await service.createOwn({ payload: 'hunter2', expire_after_views: 2 });
    const asked = await service.createRequest();
    expect((await service.retrieve(two)).json.views_remaining).toBe(1);
    disk.fail();

    const once = { headers: { 'idempotency-key': '"Jk3dF8s-Qw2mZx0pLr7tVg"' } };
    const refused: [string, string, Call?][] = [
      ['GET', at(one)],
      ['GET', at(one), once],
      ['POST', `/p/${one}`, { fields: {} }],
      ['GET', at(two)],
      ['DELETE', at(two)],
      ['POST', '/api/v2/pushes', { body: { push: { payload: 'x' } } }],
      ['POST', '/api/v2/pushes', { ...service.asAdmin, form: [filePart('a', 'x')] }],
      ['PATCH', `/api/v2/requests/${asked}/respond`, { body: { request: { response: 'x' } } }],
    ];
    for (const [method, path, how] of refused) {
      service.lines.length = 0;
      const { status, headers, text } = await service.call(method, path, how);
      const answer = [method, path, status, headers.get('retry-after')];
      expect(answer).toEqual([method, path, 503, '5']);
      expect(text).not.toContain('hunter');
      expect(service.lines.join('\n')).not.toContain(' error ');
    }
    expect(service.warnings).toEqual([expect.stringMatching(/unavailable .SQLITE_IOERR/)]);
    const left = [{ views_remaining: 1 }, { views_remaining: 1 }];
    expect(await service.list('active')).toMatchObject(left);

    await service.close();
    disk.replace();
    const again = await opened({ data, reserve: 0 });
    expect((await again.retrieve(one, once)).json.payload).toBe('hunter1');
    const given = { payload: 'hunter2', views_remaining: 0 };
    expect((await again.retrieve(two)).json).toMatchObject(given);
    const { json } = await again.call('GET', `/api/v2/requests/${asked}`, again.asAdmin);
    expect(json.state).toBe('open');
    await again.create({ payload: 'x' });
  });
});

onPostgres((cluster) => {
  test('a connection that is cut anywhere gives no view twice, and loses no push that was created', async () => {
    const database = cluster().url(await cluster().createDatabase());
    const data = await newFolder();
    const direct = await opened({ data, database });
    const proxy = await cuttingProxy(cluster().port);
    onTestFinished(proxy.close);
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
  });

  /** As its superuser; names cannot be parameters. */
  async function administer(name: string, ...lines: string[]): Promise<void> {
    const admin = await openBeside(cluster().localUrl(name));
    for (const line of lines) await admin.sql(plain(line));
    await admin.close();
  }

  test('a full disk refuses pushes, gives them, and makes them with space', needsDisk, async () => {
    const disk = mountDisk(48);
    onTestFinished(() => disk.remove());
    if (process.geteuid?.() === 0) execFileSync('chown', ['postgres:', disk.folder]);
    const name = await cluster().createDatabase();
    await administer(
      name,
      `CREATE TABLESPACE small LOCATION '${disk.folder}'`,
      `ALTER DATABASE ${name} SET default_tablespace = small`,
    );
    const database = cluster().localUrl(name);
    const service = await opened({ data: await newFolder(), database });
    disk.fill(2 ** 20);
    const tokens: string[] = [];
    for (;;) {
      const answer = await push(service, randomBytes(48_000).toString('base64'));
      if (answer.status === 201) tokens.push(answer.json.url_token);
      else {
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([507, '60']);
        break;
      }
    }
    expect(await payloadOf(service, tokens[0] ?? '')).toHaveLength(64_000);
    disk.fill();
    const up = async () => (await service.call('GET', '/up')).status;
    await expect.poll(up, { message: 'the outage is told' }).toBe(503);
    const full = 'the database has no space (53100); requests get 507';
    expect(service.warnings).toEqual([full]);
    disk.clear();
    expect((await push(service, 'x')).status).toBe(201);
    await expect.poll(up, { message: 'the outage ends' }).toBe(200);
    expect(service.warnings).toEqual([full, 'the database has space again']);
    expect((await service.expire(tokens[0] ?? '')).status).toBe(200);
    await service.close();
    await administer(name, 'DROP SCHEMA public CASCADE', 'DROP TABLESPACE small');
  });
});

const needed = allOf(needsDisk, needsPostgres);
test('PostgreSQL on a full disk, its log included, has lost nothing later', needed, async () => {
  const disk = mountDisk(160);
  onTestFinished(() => disk.remove());
  const cluster = await startCluster({ within: disk.folder });
  onTestFinished(() => cluster.remove());
  const database = cluster.url(await cluster.createDatabase());
  const service = await opened({ data: await newFolder(), database });
  const payload = (at: number) => `${at} `.padEnd(500_000, 'x');
  const tokens: string[] = [];
  const another = async () => {
    const views = { expire_after_views: 1 };
    const { status, headers, json } = await push(service, payload(tokens.length), views);
    if (status === 201) tokens.push(json.url_token);
    else expect([503, 507]).toContain(status);
    return headers.get('retry-after');
  };
  await another();
  disk.fill();
  await expect.poll(another, { message: 'the disk is full' }).toBe('60');
  // The next transaction needs a segment of its log, for which there is no space: the server ends.
  const beside = await openBeside(database);
  await beside.sql`SELECT pg_switch_wal()`;
  await beside.close();
  await expect.poll(another, { message: 'the server ends' }).toBe('5');
  disk.clear();
  await cluster.start().catch(() => undefined);
  await expect.poll(another, { message: 'the server is back' }).toBe(null);
  for (const [at, token] of tokens.entries()) {
    const { json } = await service.retrieve(token);
    expect([json.payload === payload(at), json.views_remaining]).toEqual([true, 0]);
  }
});

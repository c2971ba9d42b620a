import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mountDisk, mountFailingDisk, needsDisk, needsFailingDisk } from '../../helpers/disk';
import { folders } from '../../helpers/memory';
import { allOf } from '../../helpers/needs';
import { needsPostgres, startCluster } from '../../helpers/postgres';
import { type Call, filePart, type TestService, testService } from '../../helpers/service';
import { openBeside } from '../../helpers/stores';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const newFolder = folders();

/** A service that is closed after the test, if it has not been. */
async function opened(settings: Parameters<typeof testService>[0]): Promise<TestService> {
  const service = await testService(settings);
  onTestFinished(() => service.close());
  return service;
}

const at = (token: string) => `/api/v2/pushes/${token}`;

describe(
  'SQLite on a disk that becomes read-only (needs the right to mount one)',
  needsFailingDisk,
  () => {
    test('refuses what it cannot write down, says why in its log, and has lost nothing', async () => {
      const disk = mountFailingDisk(32);
      onTestFinished(() => disk.remove());
      const data = join(disk.folder, 'data');
      const service = await opened({ data, reserve: 0 });
      const admin = { token: service.adminToken };
      const one = await service.create({ payload: 'hunter1', expire_after_views: 1 }, admin.token);
      const two = await service.create({ payload: 'hunter2', expire_after_views: 2 }, admin.token);
      const request = { ...admin, body: { request: { request: 'x' } } };
      const asked = (await service.call('POST', '/api/v2/requests', request)).json.url_token;
      expect((await service.call('GET', at(two))).json.views_remaining).toBe(1);
      disk.fail();

      const once = { headers: { 'idempotency-key': '"Jk3dF8s-Qw2mZx0pLr7tVg"' } };
      const refused: [string, string, Call?][] = [
        ['GET', at(one)],
        ['GET', at(one), once],
        ['POST', `/p/${one}`, { headers: FORM }],
        ['GET', at(two)],
        ['DELETE', at(two)],
        ['POST', '/api/v2/pushes', { body: { push: { payload: 'x' } } }],
        ['POST', '/api/v2/pushes', { ...admin, form: [filePart('a', 'x')] }],
        ['PATCH', `/api/v2/requests/${asked}/respond`, { body: { request: { response: 'x' } } }],
      ];
      for (const [method, path, how] of refused) {
        service.lines.length = 0;
        const { status, headers, text } = await service.call(method, path, how);
        expect([method, path, status, headers.get('retry-after')]).toEqual([
          method,
          path,
          503,
          '5',
        ]);
        expect(text).not.toContain('hunter');
        // As libsql and as Node.js name it.
        expect(service.lines.join('\n')).toMatch(/ error \w+ (?:SQLITE_IOERR|ERR_SQLITE_ERROR)/);
      }
      const list = await service.call('GET', at('active'), admin);
      expect(list.json.map((push: { views_remaining: number }) => push.views_remaining)).toEqual([
        1, 1,
      ]);

      await service.close();
      disk.replace();
      const again = await opened({ data, reserve: 0 });
      expect((await again.call('GET', at(one), once)).json.payload).toBe('hunter1');
      expect((await again.call('GET', at(two))).json).toMatchObject({
        payload: 'hunter2',
        views_remaining: 0,
      });
      const { json } = await again.call('GET', `/api/v2/requests/${asked}`, {
        token: again.adminToken,
      });
      expect(json.state).toBe('open');
      await again.create({ payload: 'x' });
    });
  },
);

test(
  'PostgreSQL on a disk that is full, its log included, has lost nothing when there is space',
  allOf(needsDisk, needsPostgres),
  async () => {
    const disk = mountDisk(160);
    onTestFinished(() => disk.remove());
    const cluster = await startCluster({ within: disk.folder });
    onTestFinished(() => cluster.remove());
    const database = cluster.url(await cluster.createDatabase());
    const service = await opened({ data: await newFolder(), database });
    const payload = (at: number) => `${at} `.padEnd(500_000, 'x');
    const tokens: string[] = [];
    const push = async () => {
      const body = { push: { payload: payload(tokens.length), expire_after_views: 1 } };
      const { status, headers, json } = await service.call('POST', '/api/v2/pushes', { body });
      if (status === 201) tokens.push(json.url_token);
      else expect(status).toBe(503);
      return headers.get('retry-after');
    };
    await push();
    disk.fill();
    await expect.poll(push).toBe('60');
    // The next transaction needs a segment of its log, for which there is no space: the server ends.
    const beside = await openBeside(database);
    await beside.sql`SELECT pg_switch_wal()`;
    await beside.close();
    await expect.poll(push).toBe('5');
    disk.clear();
    // Unless it has been able to go on by itself.
    await cluster.start().catch(() => undefined);
    await expect.poll(push).toBe(null);
    for (const [at, token] of tokens.entries()) {
      const { json } = await service.call('GET', `/api/v2/pushes/${token}`);
      expect([json.payload === payload(at), json.views_remaining]).toEqual([true, 0]);
    }
  },
);

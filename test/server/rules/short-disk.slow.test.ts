import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../../src/server/store/sql';
import { openSqlite } from '../../../src/server/store/sqlite';
import { type Disk, mountDisk, needsDisk } from '../../helpers/disk';
import { folders } from '../../helpers/memory';
import {
  call,
  create,
  createWithFiles,
  filePart,
  fileRows,
  type TestService,
  testService,
} from '../../helpers/service';

const MIB = 1024 * 1024;
const DAY = 86_400_000;

const newFolder = folders();
let service: TestService;
let beside: Database;

const push = (payload: string, more = {}) =>
  call(service, 'POST', '/api/v2/pushes', { body: { push: { payload, ...more } } });
const secrets = async () => (await beside.sql`SELECT push_id FROM secrets`).length;

async function request(on: TestService): Promise<string> {
  const how = { token: on.adminToken, body: { request: { request: 'x' } } };
  return (await call(on, 'POST', '/api/v2/requests', how)).json.url_token;
}

const respond = (token: string, response: string, on = service) =>
  call(on, 'PATCH', `/api/v2/requests/${token}/respond`, { body: { request: { response } } });
const readAnswer = (token: string) =>
  call(service, 'GET', `/api/v2/requests/${token}`, { token: service.adminToken });

describe('while less space is free than is kept', () => {
  let made: string;
  let [open, ready] = ['', ''];

  beforeEach(async () => {
    const data = await newFolder();
    const roomy = await testService({ data, reserve: 0 });
    made = await create(roomy, { payload: 'made before' });
    [open, ready] = [await request(roomy), await request(roomy)];
    await respond(ready, 'answered before', roomy);
    await roomy.close();
    service = await testService({ data, reserve: 2 ** 60 });
    beside = await openSqlite(join(data, 'pwpush.db'), (load) => load());
    return async () => {
      await beside.close();
      await service.close();
    };
  });

  test('creations are refused, and uploads, and nothing is left of them', async () => {
    const { status, headers, json } = await push('x');
    expect([status, headers.get('retry-after'), json]).toEqual([
      503,
      '60',
      { error: 'The instance is short of space. Try again later.' },
    ]);
    const form = [filePart('a', Buffer.alloc(2 * MIB))];
    const upload = await call(service, 'POST', '/api/v2/pushes', {
      form,
      token: service.adminToken,
    });
    expect([upload.status, await fileRows(beside)]).toEqual([503, [0, 0, 0]]);
    expect(service.warnings).toEqual([
      'space for data is low: pushes are refused until there is more',
    ]);
  });

  test('answers are refused, and their requests stay open', async () => {
    expect((await respond(open, 'x')).status).toBe(503);
    expect((await readAnswer(open)).json.state).toBe('open');
    expect((await readAnswer(ready)).json.response).toBe('answered before');
  });

  test('what is there is handed out, and only the response of a last view kept', async () => {
    const kept = async (key: string) => {
      const headers = { 'idempotency-key': `"0123456789abcdef${key}"` };
      const { json } = await call(service, 'GET', `/api/v2/pushes/${made}`, { headers });
      const rows = await beside.sql`SELECT push_id FROM kept WHERE sealed IS NOT NULL`;
      return [json.payload, json.views_remaining, rows.length];
    };
    const views = [];
    for (const key of ['a', 'b', 'c', 'd', 'e', 'e']) views.push(await kept(key));
    expect(views).toEqual([
      ...[4, 3, 2, 1].map((left) => ['made before', left, 0]),
      ...['first', 'again'].map(() => ['made before', 0, 1]),
    ]);
  });

  test('what is there is handed out, and ends', async () => {
    expect((await call(service, 'GET', `/api/v2/pushes/${made}`)).json.payload).toBe('made before');
    expect((await call(service, 'DELETE', `/api/v2/pushes/${made}`)).json.deleted).toBe(true);
    // Of the requests and the answer.
    expect(await secrets()).toBe(3);
  });
});

describe('a service in memory', () => {
  beforeEach(async () => {
    service = await testService({ maxData: 16 * MIB, reserve: 4 * MIB });
    return () => service.close();
  });

  test('refuses pushes beyond its maximum, and takes others when some have ended', async () => {
    const tokens: string[] = [];
    for (;;) {
      const { status, json } = await push('x'.repeat(MIB));
      if (status !== 201) break;
      tokens.push(json.url_token);
    }
    expect([tokens.length > 8, tokens.length <= 16]).toEqual([true, true]);
    for (const token of tokens) {
      expect((await call(service, 'DELETE', `/api/v2/pushes/${token}`)).status).toBe(200);
    }
    expect((await push('x'.repeat(MIB))).status).toBe(201);
  });

  test('refuses files beyond its maximum, and takes others when some have ended', async () => {
    const upload = () =>
      call(service, 'POST', '/api/v2/pushes', {
        form: [filePart('a', Buffer.alloc(10 * MIB))],
        token: service.adminToken,
      });
    const { status, json } = await upload();
    expect(status).toBe(201);
    expect((await upload()).status).toBe(503);
    await call(service, 'DELETE', `/api/v2/pushes/${json.url_token}`);
    await service.service.pushes.finish();
    expect((await upload()).status).toBe(201);
  });
});

describe('a disk of 64 MiB (needs the right to mount one)', needsDisk, () => {
  let disk: Disk;
  let data: string;

  beforeEach(async () => {
    disk = mountDisk(64);
    data = join(disk.folder, 'data');
    service = await testService({ data, reserve: 16 * MIB });
    beside = await openSqlite(join(data, 'pwpush.db'), (load) => load());
  });
  afterEach(async () => {
    await beside.close();
    await service.close();
    disk.remove();
  });

  /** Creates pushes of 1 MiB until one is refused. */
  async function fillWithPushes(): Promise<string[]> {
    const tokens: string[] = [];
    for (;;) {
      const { status, json } = await push('x'.repeat(MIB), { expire_after_views: 2 });
      if (status !== 201) return tokens;
      tokens.push(json.url_token);
    }
  }

  test('that pushes fill keeps its reserve; full to the last byte, all of them still end', async () => {
    const tokens = await fillWithPushes();
    expect(tokens.length).toBeGreaterThan(10);
    disk.fill();
    const half = tokens.splice(0, 5);
    for (const token of half) {
      const { status } = await call(service, 'DELETE', `/api/v2/pushes/${token}`);
      expect(status).toBe(200);
    }
    expect(await secrets()).toBe(tokens.length);
    service.clock.advance(7 * DAY);
    // One sweep, as it would be a minute later: on a disk that is as full as before.
    disk.fill();
    expect(await service.service.housekeeping.sweep()).toBe(tokens.length);
    expect(await secrets()).toBe(0);
    disk.clear();
    expect(existsSync(join(data, 'pwpush.reserve'))).toBe(false);
    await service.service.housekeeping.sweep();
    expect(existsSync(join(data, 'pwpush.reserve'))).toBe(true);
    expect((await push('y')).status).toBe(201);
  });

  test('that is full to the last byte gives last views, also to who can ask again', async () => {
    const tokens: string[] = [];
    for (let at = 0; at < 10; at += 1)
      tokens.push(await create(service, { payload: `${at}`.repeat(MIB), expire_after_views: 1 }));
    disk.fill();
    for (const [at, token] of tokens.entries()) {
      const headers = { 'idempotency-key': `"0123456789abcdef${at}"` };
      for (const _ of ['first', 'again']) {
        const { json } = await call(service, 'GET', `/api/v2/pushes/${token}`, { headers });
        expect(json.payload?.[0]).toBe(`${at}`);
      }
    }
  });

  test('that responses to a reader fill keeps its reserve', async () => {
    const push = { payload: 'x'.repeat(MIB), expire_after_views: 1 };
    const token = await create(service, push, service.adminToken);
    for (let at = 0; at < 60; at += 1) {
      const headers = { 'idempotency-key': `"0123456789abcdef${at}"` };
      const how = { token: service.adminToken, headers };
      const { json } = await call(service, 'GET', `/api/v2/pushes/${token}`, how);
      expect(json.payload).toHaveLength(MIB);
    }
    expect((await beside.sql`SELECT push_id FROM kept`).length).toBeLessThan(50);
    expect(existsSync(join(data, 'pwpush.reserve'))).toBe(true);
  });

  test('a view that cannot be written down is not given', async () => {
    const token = await create(service, { payload: 'hunter2', expire_after_views: 99 });
    disk.fill();
    const statuses: number[] = [];
    // A page or two may be left in the log.
    while (statuses.length < 50 && statuses.at(-1) !== 503) {
      const { status, text } = await call(service, 'GET', `/api/v2/pushes/${token}`);
      expect(text.includes('hunter2')).toBe(status === 200);
      statuses.push(status);
    }
    const given = statuses.length - 1;
    expect(statuses).toEqual([...Array(given).fill(200), 503]);
    disk.clear();
    const { json } = await call(service, 'GET', `/api/v2/pushes/${token}`);
    expect(json.views_remaining).toBe(98 - given);
  });

  test('an answer is whole or refused, and a full disk does not keep it from its owner', async () => {
    const [open, ready] = [await request(service), await request(service)];
    await respond(ready, 'hunter2');
    disk.fill();
    expect((await respond(open, 'x'.repeat(MIB))).status).toBe(503);
    expect((await readAnswer(ready)).json.response).toBe('hunter2');
    disk.clear();
    expect((await readAnswer(open)).json).toMatchObject({ state: 'open', response: null });
    expect((await respond(open, 'later')).status).toBe(200);
    expect((await readAnswer(open)).json.response).toBe('later');
  });

  test('files larger than what is free are gone when the answer is there', async () => {
    const token = await createWithFiles(service, filePart('a', Buffer.alloc(24 * MIB)));
    const seen = await call(service, 'GET', `/api/v2/pushes/${token}`);
    const link = new URL(seen.json.files[0].url).pathname;
    disk.fill();
    expect((await call(service, 'DELETE', `/api/v2/pushes/${token}`)).status).toBe(200);
    expect(await secrets()).toBe(0);
    expect((await call(service, 'GET', link)).status).toBe(404);
    await service.service.pushes.finish();
    expect(await fileRows(beside)).toEqual([0, 0, 0]);
  });

  test('a reader gets no error if something could not be deleted', async () => {
    const token = await create(service, { payload: 'x'.repeat(MIB), expire_after_days: 1 });
    service.clock.advance(DAY);
    disk.fill();
    expect((await call(service, 'GET', '/api/v2/pushes/abcdefghijklmnopqrs')).status).toBe(404);
    expect((await call(service, 'GET', `/api/v2/pushes/${token}/preview`)).status).toBe(200);
    expect((await call(service, 'GET', `/p/${token}`)).status).toBe(404);
  });
});

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../../src/server/store/sql';
import { type Disk, mountDisk, needsDisk } from '../../helpers/disk';
import { filePart, fileRows, opened, type TestService } from '../../helpers/service';
import { onSqlite, sqliteIn } from '../../helpers/stores';

const MIB = 1024 * 1024;
const DAY = 86_400_000;

let service: TestService;
let beside: Database;

async function open(data: string, reserve: number): Promise<void> {
  service = await opened({ data, reserve });
  beside = await sqliteIn(data);
  onTestFinished(() => beside.close());
}

const push = (payload: string, more = {}) =>
  service.call('POST', '/api/v2/pushes', { body: { push: { payload, ...more } } });
const upload = (bytes: number) =>
  service.call('POST', '/api/v2/pushes', { form: [filePart('a', Buffer.alloc(bytes))], ...service.asAdmin });
const once = (key: unknown) => ({ headers: { 'idempotency-key': `"0123456789abcdef${key}"` } });
const secrets = async () => (await beside.sql`SELECT push_id FROM secrets`).length;
const readAnswer = async (token: string) =>
  (await service.call('GET', `/api/v2/requests/${token}`, service.asAdmin)).json;

describe('while less space is free than is kept', () => {
  let made: string;
  let [asked, ready] = ['', ''];

  beforeEach(async () => {
    const { data } = (await onSqlite().room()).settings;
    const roomy = await opened({ data, reserve: 0 });
    made = await roomy.create({ payload: 'made before' });
    [asked, ready] = [await roomy.createRequest(), await roomy.createRequest()];
    await roomy.respond(ready, 'answered before');
    await roomy.close();
    await open(data, 2 ** 60);
  });

  test('creations are refused, and uploads, and nothing is left of them', async () => {
    const { status, headers, json } = await push('x');
    const error = 'The instance is short of space. Try again later.';
    expect([status, headers.get('retry-after'), json]).toEqual([507, '60', { error, done: false }]);
    expect([(await upload(2 * MIB)).status, await fileRows(beside)]).toEqual([507, [0, 0, 0]]);
    expect(service.warnings).toEqual(['space for data is low: pushes are refused until there is more']);
  });

  test('answers are refused, and their requests stay open', async () => {
    expect((await service.respond(asked, 'x')).status).toBe(507);
    expect((await readAnswer(asked)).state).toBe('open');
    expect((await readAnswer(ready)).response).toBe('answered before');
  });

  test('what is there is handed out, and each response of a view is kept', async () => {
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      const first = await service.retrieve(made, once(key));
      expect(first.json.payload).toBe('made before');
      expect((await service.retrieve(made, once(key))).json).toEqual(first.json);
    }
    // The secret went with the last: those of the requests and the answer are left.
    expect(await secrets()).toBe(3);
  });
});

async function fillWithPushes(): Promise<string[]> {
  const tokens: string[] = [];
  for (;;) {
    const { status, json } = await push('x'.repeat(MIB), { expire_after_views: 2 });
    if (status !== 201) return tokens;
    tokens.push(json.url_token);
  }
}

test('a service in memory refuses files beyond its maximum, and takes others when some have ended', async () => {
  service = await opened({ maxData: 16 * MIB, reserve: 4 * MIB });
  const { status, json } = await upload(10 * MIB);
  expect([status, (await upload(10 * MIB)).status]).toEqual([201, 507]);
  await service.expire(json.url_token);
  await service.service.pushes.finish();
  expect((await upload(10 * MIB)).status).toBe(201);
  expect(service.warnings).toEqual([
    'space for data is low: pushes are refused until there is more',
    'there is space for data again: pushes are accepted',
  ]);
});

describe('a disk of 64 MiB (needs the right to mount one)', needsDisk, () => {
  let disk: Disk;
  let data: string;

  beforeEach(async () => {
    disk = mountDisk(64);
    onTestFinished(() => disk.remove());
    data = join(disk.folder, 'data');
    await open(data, 16 * MIB);
  });
  const hasReserve = () => existsSync(join(data, 'pwpush.reserve'));

  test('that pushes fill keeps its reserve; full to the last byte, all of them still end', async () => {
    const tokens = await fillWithPushes();
    expect(tokens.length).toBeGreaterThan(10);
    disk.fill();
    const half = tokens.splice(0, 5);
    for (const token of half) expect((await service.expire(token)).status).toBe(200);
    expect(await secrets()).toBe(tokens.length);
    service.clock.advance(7 * DAY);
    // One sweep, as it would be a minute later: on a disk that is as full as before.
    disk.fill();
    expect(await service.service.housekeeping.sweep()).toBe(tokens.length);
    expect(await secrets()).toBe(0);
    disk.clear();
    expect(hasReserve()).toBe(false);
    await service.service.housekeeping.sweep();
    expect(hasReserve()).toBe(true);
    expect((await push('y')).status).toBe(201);
  });

  test('is down while it is full to the last byte, says so once, and is up with space', async () => {
    const up = async () => (await service.call('GET', '/up')).status;
    const token = await service.create({ payload: 'x', expire_after_views: 99 });
    await service.service.housekeeping.sweep();
    expect(await up()).toBe(200);
    disk.fill();
    expect([await up(), (await service.retrieve(token)).status]).toEqual([503, 507]);
    for (let round = 0; round < 3; round += 1) {
      await service.service.housekeeping.sweep();
      // It may find room for a view in the log.
      await service.retrieve(token);
      expect(await up()).toBe(503);
    }
    const full = 'the database has no space (ENOSPC); requests get 507';
    expect(service.warnings.filter((line) => line.startsWith('the database'))).toEqual([full]);
    disk.clear();
    // A check writes at most ten times a second.
    await expect.poll(up, { message: 'the disk has room again' }).toBe(200);
    expect(service.warnings.filter((line) => line.startsWith('the database'))).toEqual([
      full,
      'the database has space again',
    ]);
  });

  test('that has room for the log takes pushes into what is free inside the file, and else none', async () => {
    for (const token of await fillWithPushes()) await service.expire(token);
    const statusWith = async (left: number) => {
      disk.clear();
      disk.fill(left);
      return (await push('x')).status;
    };
    expect([await statusWith(6 * MIB), await statusWith(10 * MIB)]).toEqual([507, 201]);
  });

  test('that is full to the last byte gives last views, also to who can ask again', async () => {
    const tokens: string[] = [];
    for (let at = 0; at < 10; at += 1)
      // What takes most in JSON.
      tokens.push(await service.create({ payload: `${at}\u0001`.repeat(MIB / 2), expire_after_views: 1 }));
    disk.fill();
    for (const [at, token] of tokens.entries()) {
      for (const _ of ['first', 'again'])
        expect((await service.retrieve(token, once(at))).json.payload?.[0]).toBe(`${at}`);
    }
  });

  test('that is full to the last byte hides what was shown', async () => {
    const keyOf = (at: number) => `${at}`.padStart(22, 'k');
    const retrieve = (token: string, at: number) =>
      service.retrieve(token, { headers: { 'idempotency-key': `"${keyOf(at)}"` } });
    const tokens: string[] = [];
    // As many as do not find room in the log without the reserve.
    for (let at = 0; at < 20; at += 1) {
      const token = await service.create({ payload: 'hunter2', expire_after_views: 1 });
      tokens.push(token);
      expect((await retrieve(token, at)).json.payload).toBe('hunter2');
    }
    await service.service.housekeeping.sweep();
    disk.fill();
    for (const [at, token] of tokens.entries()) {
      const fields = { do: 'hide', once: keyOf(at) };
      const headers = { origin: 'http://pw.test' };
      expect((await service.call('POST', `/p/${token}`, { headers, fields })).status).toBe(200);
      expect((await retrieve(token, at)).json.payload).toBe(null);
    }
  });

  test('that responses to a reader cannot fill', async () => {
    const push = { payload: 'x'.repeat(MIB), expire_after_views: 60 };
    const token = await service.create(push);
    const free = async () => (await beside.space())?.free ?? 0;
    const before = await free();
    for (let at = 0; at < 60; at += 1) expect((await service.retrieve(token, once(at))).json.payload).toHaveLength(MIB);
    expect(before - (await free())).toBeLessThan(8 * MIB);
    expect(hasReserve()).toBe(true);
  });

  test('a view that cannot be written down is not given', async () => {
    const token = await service.create({ payload: 'hunter2', expire_after_views: 99 });
    disk.fill();
    const statuses: number[] = [];
    // A page or two may be left in the log.
    while (statuses.length < 50 && statuses.at(-1) !== 507) {
      const { status, text } = await service.retrieve(token);
      expect(text.includes('hunter2')).toBe(status === 200);
      statuses.push(status);
    }
    const given = statuses.length - 1;
    expect(statuses).toEqual([...Array(given).fill(200), 507]);
    disk.clear();
    const { json } = await service.retrieve(token);
    expect(json.views_remaining).toBe(98 - given);
  });

  test('an answer is whole or refused, and a full disk does not keep it from its owner', async () => {
    const [asked, ready] = [await service.createRequest(), await service.createRequest()];
    await service.respond(ready, 'hunter2');
    disk.fill();
    expect((await service.respond(asked, 'x'.repeat(MIB))).status).toBe(507);
    expect((await readAnswer(ready)).response).toBe('hunter2');
    disk.clear();
    expect(await readAnswer(asked)).toMatchObject({ state: 'open', response: null });
    expect((await service.respond(asked, 'later')).status).toBe(200);
    expect((await readAnswer(asked)).response).toBe('later');
  });

  test('files larger than what is free are gone when the answer is there', async () => {
    const token = await service.createWithFiles(filePart('a', Buffer.alloc(24 * MIB)));
    const seen = await service.retrieve(token);
    disk.fill();
    expect((await service.expire(token)).status).toBe(200);
    expect(await secrets()).toBe(0);
    expect((await service.fetchLink(seen.json.files[0].url)).status).toBe(404);
    await service.service.pushes.finish();
    expect(await fileRows(beside)).toEqual([0, 0, 0]);
  });
});

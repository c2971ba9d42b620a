import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SecretRow } from '../../src/server/store/pushes';
import type { Database } from '../../src/server/store/sql';
import { openSqlite } from '../../src/server/store/sqlite';
import { call, create, type TestService, testService } from '../helpers/service';

const DAY = 86_400_000;

let data: string;
let service: TestService;
/** A second connection that stays open: closing one empties the log, which is the service's to do here. */
let beside: Database;

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'pwpush-'));
  service = await testService({ data });
  beside = await openSqlite(join(data, 'pwpush.db'), (load) => load());
});

afterEach(async () => {
  await beside.close();
  await service.close();
  await rm(data, { recursive: true });
});

/** All bytes in the folder, the write-ahead log's included, but for the instance key. */
async function onDisk(): Promise<Buffer> {
  const names = (await readdir(data)).filter((name) => name !== 'instance.key');
  expect(names).toContain('pwpush.db-wal');
  return Buffer.concat(await Promise.all(names.map((name) => readFile(join(data, name)))));
}

const secretRows = () => beside.sql<SecretRow>`SELECT * FROM secrets`;

const sealed = ({ data_key, payload, note_key, note, salt, verifier }: SecretRow) =>
  [data_key, payload, note_key, note, salt, verifier].filter((value) => value !== null);

const push = {
  payload: 'MARKER-payload '.repeat(2000),
  note: 'MARKER-note',
  passphrase: 'MARKER-passphrase',
};

test('the database alone tells nothing', async () => {
  const token = await create(service, push, service.adminToken);
  await call(service, 'GET', `/api/v2/pushes/${token}?passphrase=MARKER-wrong`);
  await call(service, 'GET', `/api/v2/pushes/${token}?passphrase=MARKER-passphrase`);
  await call(service, 'GET', `/api/v2/pushes/active`, { token: service.adminToken });
  const bytes = await onDisk();
  expect(bytes.includes(token)).toBe(true);
  expect(bytes.includes('MARKER')).toBe(false);
  expect(bytes.includes(service.adminToken.slice(4))).toBe(false);
  const key = Buffer.from(await readFile(join(data, 'instance.key'), 'utf8'), 'base64');
  expect(bytes.includes(key)).toBe(false);
});

describe('expired means gone', () => {
  const open = 'passphrase=MARKER-passphrase';

  test.each([
    [
      'by the last view',
      (token: string) => call(service, 'GET', `/api/v2/pushes/${token}?${open}`),
    ],
    ['by hand', (token: string) => call(service, 'DELETE', `/api/v2/pushes/${token}`)],
    [
      'by time, when somebody asks',
      (token: string) => {
        service.clock.advance(DAY);
        return call(service, 'GET', `/api/v2/pushes/${token}`);
      },
    ],
    [
      'by time, when somebody deletes it',
      (token: string) => {
        service.clock.advance(DAY);
        return call(service, 'DELETE', `/api/v2/pushes/${token}`);
      },
    ],
    [
      'by time, when nobody asks',
      () => {
        service.clock.advance(DAY);
        return service.service.pushes.sweep();
      },
    ],
  ])('%s', async (_, end) => {
    const token = await create(service, { ...push, expire_after_views: 1, expire_after_days: 1 });
    const values = sealed((await secretRows())[0] as SecretRow);
    expect(values).toHaveLength(6);
    const before = await onDisk();
    // A long value is spread over pages; its first bytes stand in one.
    const traces = values.map((value) => Buffer.from(value).subarray(0, 48));
    expect(traces.map((trace) => before.includes(trace))).toEqual(traces.map(() => true));
    await end(token);
    const after = await onDisk();
    expect(await secretRows()).toEqual([]);
    expect(after.includes(token)).toBe(true);
    expect(traces.map((trace) => after.includes(trace))).toEqual(traces.map(() => false));
  });

  test('only what expired goes', async () => {
    const kept = await create(service, { payload: 'kept' });
    const gone = await create(service, { payload: 'gone' });
    await call(service, 'DELETE', `/api/v2/pushes/${gone}`);
    expect((await call(service, 'GET', `/api/v2/pushes/${kept}`)).json.payload).toBe('kept');
  });
});

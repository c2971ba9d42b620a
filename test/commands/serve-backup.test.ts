import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqlite } from '../../src/server/store/sqlite';
import { type Place, place } from '../helpers/run';
import { call, create, testService } from '../helpers/service';

const DAY = 86_400_000;

let here: Place;
let data: string;
beforeEach(() => {
  here = place();
  data = here.file('data');
});
afterEach(() => here.close());

const backup = (...words: string[]) => here.run('serve', 'backup', '--data', data, ...words);

/** The service on a backup, with the instance key of the original. */
function restored(file: string, clock?: Parameters<typeof testService>[0]) {
  const folder = here.file('restored');
  mkdirSync(folder);
  writeFileSync(join(folder, 'pwpush.db'), readFileSync(file));
  return testService({ ...clock, data: folder, instanceKeyFile: join(data, 'instance.key') });
}

test('a copy made while pushes are created has each that was acknowledged before', async () => {
  const service = await testService({ data });
  const payloads = Array.from({ length: 200 }, (_, i) => `push ${i}`);
  const file = here.file('copy.db');
  const all: [string, string][] = [];
  const creating = Promise.all(
    payloads.map(async (payload) => all.push([await create(service, { payload }), payload])),
  );
  await create(service, { payload: 'first' });
  const acknowledged = [...all];
  const made = await backup(file);
  await creating;
  expect(made).toMatchObject({ code: 0, stdout: `${file}\n` });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const second = await restored(file);
  for (const [token, payload] of acknowledged) {
    expect((await call(second, 'GET', `/api/v2/pushes/${token}`)).json.payload).toBe(payload);
  }
  expect(acknowledged.length).toBeGreaterThan(10);
  await second.close();
  await service.close();
});

test('what has expired since is not served from a copy, and swept', async () => {
  const service = await testService({ data });
  const push = { payload: 'x', expire_after_days: 1 };
  const [held, due] = [await create(service, { payload: 'held' }), await create(service, push)];
  const gone = await create(service, push);
  await call(service, 'DELETE', `/api/v2/pushes/${gone}`);
  await service.close();
  await backup(here.file('copy.db'));
  service.clock.advance(DAY);
  const second = await restored(here.file('copy.db'), { clock: service.clock });
  const payload = async (token: string) =>
    (await call(second, 'GET', `/api/v2/pushes/${token}`)).json.payload;
  expect([await payload(held), await payload(due), await payload(gone)]).toEqual([
    'held',
    null,
    null,
  ]);
  await create(second, push);
  service.clock.advance(DAY);
  expect(await second.service.housekeeping.sweep()).toBe(1);
  await second.close();
});

test('it has no trace of what was deleted', async () => {
  const service = await testService({ data });
  const token = await create(service, { payload: 'x' });
  const beside = await openSqlite(join(data, 'pwpush.db'), (load) => load());
  const [row] = await beside.sql<{ data_key: Uint8Array }>`SELECT data_key FROM secrets`;
  const key = Buffer.from(row?.data_key ?? []);
  await beside.close();
  await backup(here.file('before.db'));
  await call(service, 'DELETE', `/api/v2/pushes/${token}`);
  await backup(here.file('after.db'));
  const has = (name: string) => readFileSync(here.file(name)).includes(key);
  expect([has('before.db'), has('after.db')]).toEqual([true, false]);
  await service.close();
});

test('a file that exists is left as it is, and the database itself even with --force', async () => {
  await (await testService({ data })).close();
  const [file, itself] = [here.file('copy.db'), join(data, 'pwpush.db')];
  writeFileSync(file, 'precious');
  const before = readFileSync(itself);
  expect([(await backup(file)).code, (await backup(itself, '--force')).code]).toEqual([2, 2]);
  expect([readFileSync(file, 'utf8'), readFileSync(itself)]).toEqual(['precious', before]);
});

test('a link is not replaced, even with --force', async () => {
  await (await testService({ data })).close();
  const [file, link] = [here.file('copy.db'), here.file('latest.db')];
  writeFileSync(file, 'precious');
  symlinkSync(file, link);
  const { code, stderr } = await backup(link, '--force');
  expect([code, stderr]).toEqual([2, `pwpush: "${link}" is not a regular file\n`]);
  expect([readlinkSync(link), readFileSync(file, 'utf8')]).toEqual([file, 'precious']);
});

test('where there is nothing to copy, or no place for it, nothing is made', async () => {
  const file = here.file('copy.db');
  expect((await backup(file)).code).toBe(1);
  await (await testService({ data })).close();
  expect((await backup(here.file('missing/copy.db'))).code).toBe(2);
  expect([existsSync(file), existsSync(here.file('missing'))]).toEqual([false, false]);
});

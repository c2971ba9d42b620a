import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { needsRoot } from '../helpers/needs';
import { noted, viewsIn } from '../helpers/noted';
import { call, type TestService, testService } from '../helpers/service';
import { onEachStore } from '../helpers/stores';

let data: string;

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'pwpush-'));
});

afterEach(() => rm(data, { recursive: true }));

onEachStore((store) => {
  test('what was answered is there after a restart, views included', async () => {
    const { settings } = await store.room();
    const first = await testService(settings);
    const token = await first.create({ payload: 'kept', passphrase: 'p', expire_after_views: 3 });
    await first.call('GET', `/api/v2/pushes/${token}?passphrase=p`);
    await first.close();
    const second = await testService(settings);
    const { json } = await second.call('GET', `/api/v2/pushes/${token}?passphrase=p`);
    expect([json.payload, json.views_remaining]).toEqual(['kept', 1]);
    await second.close();
  });

  test('two services on one store share pushes, and hand out one view once', async () => {
    const { settings } = await store.room();
    const services = await Promise.all([testService(settings), testService(settings)]);
    const pushes = noted((n, ...how) => call(services[n % 2] as TestService, ...how));
    const answers = await pushes.atOnce(100, await pushes.create({ expire_after_views: 1 }));
    pushes.judge();
    expect(viewsIn(answers)).toBe(1);
    await Promise.all(services.map((service) => service.close()));
  });
});

test('another instance key is refused, and so is none', async () => {
  await (await testService({ data })).close();
  const path = join(data, 'instance.key');
  const key = await readFile(path, 'utf8');
  expect(key).toMatch(/^[A-Za-z0-9+/]{43}=\n$/);
  await writeFile(path, `${Buffer.alloc(32, 7).toString('base64')}\n`);
  const refused = () => expect(testService({ data })).rejects;
  await refused().toThrow(`"${path}" is not the one `);
  for (const other of [key.slice(0, 20), '', '\n', `${key}${key.slice(0, 20)}`]) {
    await writeFile(path, other);
    await refused().toThrow(`"${path}" is not an instance key`);
  }
  await rm(path);
  await refused().toThrow(`"${path}" is missing`);
  await writeFile(path, key);
  await (await testService({ data })).close();
});

test('a link to a key that is not there is refused, and nothing is created', async () => {
  const instanceKeyFile = join(data, 'linked.key');
  const target = join(data, 'later', 'instance.key');
  await symlink(target, instanceKeyFile);
  const settings = { data: join(data, 'data'), instanceKeyFile };
  await expect(testService(settings)).rejects.toThrow(`"${instanceKeyFile}" is a link `);
  expect(await readdir(data)).toEqual(['linked.key']);
  await mkdir(dirname(target));
  await writeFile(target, `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 });
  await (await testService(settings)).close();
});

test('the key may lie elsewhere; one that others can read is warned about', async () => {
  const instanceKeyFile = join(data, 'elsewhere.key');
  const first = await testService({ data: join(data, 'data'), instanceKeyFile });
  expect(first.warnings).toEqual([]);
  await first.close();
  await chmod(instanceKeyFile, 0o644);
  const second = await testService({ data: join(data, 'data'), instanceKeyFile });
  expect(second.warnings).toEqual([expect.stringContaining(`"${instanceKeyFile}"`)]);
  await second.close();
});

test('the group of a key of root can read it (root)', needsRoot, async () => {
  const instanceKeyFile = join(data, 'group.key');
  await (await testService({ data: join(data, 'data'), instanceKeyFile })).close();
  await chmod(instanceKeyFile, 0o640);
  const service = await testService({ data: join(data, 'data'), instanceKeyFile });
  expect(service.warnings).toEqual([]);
  await service.close();
});

test('what is no database is refused', async () => {
  const path = join(data, 'pwpush.db');
  await writeFile(path, 'this is no database, but it is long enough to be looked at. '.repeat(20));
  await expect(testService({ data })).rejects.toThrow('SQLITE_NOTADB');
});

test('an empty database beside a key is not taken for a new one', async () => {
  await (await testService({ data })).close();
  const file = join(data, 'pwpush.db');
  await writeFile(file, '');
  await rm(`${file}-wal`, { force: true });
  await expect(testService({ data })).rejects.toThrow(`"${file}" is empty`);
  await rm(file);
  await (await testService({ data })).close();
});

test('a database that is a symbolic link is refused, and what it leads to is left alone', async () => {
  const target = join(data, 'of somebody else');
  await writeFile(target, 'text');
  await chmod(target, 0o644);
  await symlink(target, join(data, 'pwpush.db'));
  await expect(testService({ data })).rejects.toThrow('ELOOP');
  expect(((await stat(target)).mode & 0o777).toString(8)).toBe('644');
});

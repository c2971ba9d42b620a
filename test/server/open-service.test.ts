import {
  chmod,
  chown,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { folders } from '../helpers/memory';
import { needsRoot } from '../helpers/needs';
import { opened, type TestOptions, type TestService } from '../helpers/service';
import { onEachStore } from '../helpers/stores';

const newFolder = folders();
let data: string;

beforeEach(async () => {
  data = await newFolder();
});

async function openOnce(settings: TestOptions): Promise<string[]> {
  const { close, warnings } = await opened(settings);
  await close();
  return warnings;
}
const refused = (settings: TestOptions) => expect(opened(settings)).rejects;
const anyKey = `${Buffer.alloc(32, 7).toString('base64')}\n`;

onEachStore((store) => {
  test('what was answered is there after a restart, views included', async () => {
    const { settings } = await store.room();
    const first = await opened(settings);
    const token = await first.create({ payload: 'kept', passphrase: 'p', expire_after_views: 3 });
    await first.retrieve(`${token}?passphrase=p`);
    await first.close();
    const { json } = await (await opened(settings)).retrieve(`${token}?passphrase=p`);
    expect([json.payload, json.views_remaining]).toEqual(['kept', 1]);
  });
});

test('another instance key is refused, and so is none', async () => {
  await openOnce({ data });
  const path = join(data, 'instance.key');
  const key = await readFile(path, 'utf8');
  expect(key).toMatch(/^[A-Za-z0-9+/]{43}=\n# used by:\n# [\da-f]{32} SQLite ".*"\n$/);
  await writeFile(path, anyKey);
  await refused({ data }).toThrow(`"${path}" is not the one `);
  const cut = Array.from({ length: 44 }, (_, bytes) => key.slice(0, bytes));
  for (const other of [...cut, '\n', `${key}${key.slice(0, 20)}`]) {
    await writeFile(path, other);
    await refused({ data }).toThrow(`"${path}" is not an instance key`);
    expect(await readFile(path, 'utf8')).toBe(other);
  }
  await rm(path);
  await refused({ data }).toThrow(`"${path}" is missing`);
  await writeFile(path, key);
  await openOnce({ data });
});

test('a link to a key that is not there is refused, and nothing is created', async () => {
  const instanceKeyFile = join(data, 'linked.key');
  const target = join(data, 'later', 'instance.key');
  await symlink(target, instanceKeyFile);
  const settings = { data: join(data, 'data'), instanceKeyFile };
  await refused(settings).toThrow(`"${instanceKeyFile}" is a link `);
  expect(await readdir(data)).toEqual(['linked.key']);
  await mkdir(dirname(target));
  await writeFile(target, anyKey, { mode: 0o600 });
  await openOnce(settings);
});

describe('the key may lie elsewhere,', () => {
  let instanceKeyFile: string;
  const warned = () => openOnce({ data: join(data, 'data'), instanceKeyFile });

  beforeEach(async () => {
    instanceKeyFile = join(data, 'elsewhere.key');
    expect(await warned()).toEqual([]);
  });

  test.each([
    ['others', 0o604],
    ['its group', 0o640],
  ])('and one that %s can read is warned about', async (_, mode) => {
    if (process.geteuid?.() === 0) await chown(instanceKeyFile, 1, 1);
    await chmod(instanceKeyFile, mode);
    expect(await warned()).toEqual([expect.stringContaining(`"${instanceKeyFile}"`)]);
  });

  test.each([
    ['others', 0o604, 1],
    ['its group', 0o640, 0],
  ])('of root, who gives it to a service by the group: %s', needsRoot, async (_, mode, count) => {
    await chmod(instanceKeyFile, mode);
    expect(await warned()).toHaveLength(count);
  });
});

test('an empty database beside a key is not taken for a new one', async () => {
  await openOnce({ data });
  const file = join(data, 'pwpush.db');
  await writeFile(file, '');
  await rm(`${file}-wal`, { force: true });
  await refused({ data }).toThrow(`"${file}" is empty`);
  await rm(file);
  await openOnce({ data });
});

test('a database that is a symbolic link is refused, and what it leads to is left alone', async () => {
  const target = join(data, 'of somebody else');
  await writeFile(target, 'text');
  await chmod(target, 0o644);
  await symlink(target, join(data, 'pwpush.db'));
  await refused({ data }).toThrow('ELOOP');
  expect(((await stat(target)).mode & 0o777).toString(8)).toBe('644');
});

describe('a database that is lost while the service runs', () => {
  const file = () => join(data, 'pwpush.db');

  let service: TestService;
  let tokens: string[];
  beforeEach(async () => {
    service = await opened({ data });
    // More than SQLite keeps in memory.
    const push = { payload: 'x'.repeat(1024 ** 2), expire_after_views: 9 };
    tokens = [await service.create(push), await service.create(push), await service.create(push)];
    await service.service.housekeeping.sweep();
    expect(await up()).toBe(200);
  });
  const up = async () => (await service.call('GET', '/up')).status;
  const views = async () => {
    const statuses: number[] = [];
    for (const token of tokens) statuses.push((await service.retrieve(token)).status);
    return statuses;
  };

  test.each([
    ['overwritten', async () => writeFile(file(), Buffer.alloc((await stat(file())).size, 'x'))],
    ['cut', () => truncate(file(), 8 * 4096)],
  ])('is down at once: %s', async (_, damage) => {
    await damage();
    expect([await up(), await views(), await up()]).toEqual([503, [500, 500, 500], 503]);
  });

  test('is down from a request that failed to one that succeeds', async () => {
    await truncate(file(), (await stat(file())).size - 100 * 4096);
    expect([await up(), await views(), await up()]).toEqual([200, [200, 200, 500], 503]);
    await service.create({ payload: 'x' });
    expect(await up()).toBe(200);
  });

  test.each([
    ['no file', async () => undefined],
    ['a copy', (moved: string) => copyFile(moved, file())],
  ])('confirms nothing that it would not have after a restart: %s', async (_, replace) => {
    const body = { push: { payload: 'x' } };
    const create = () => service.call('POST', '/api/v2/pushes', { body });
    const statuses = async () => [(await create()).status, await up()];
    await rename(file(), `${file()}.moved`);
    await replace(`${file()}.moved`);
    expect(await statuses()).toEqual([503, 503]);
    await rename(`${file()}.moved`, file());
    expect(await statuses()).toEqual([201, 200]);
  });
});

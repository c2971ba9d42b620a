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
import { openForOperator } from '../../src/server/open-service';
import { backup } from '../../src/server/ops/database-copy';
import { plain } from '../../src/server/store/sql';
import { folders } from '../helpers/memory';
import { needsRoot } from '../helpers/needs';
import { opened, type TestOptions, type TestService } from '../helpers/service';
import { inRoom, onEachStore } from '../helpers/stores';

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
  test.each([
    ['whose schema has another text', ["UPDATE migrations SET digest = 'x'"]],
    ['that has none', ['ALTER TABLE migrations DROP COLUMN digest', 'DROP TABLE kept']],
  ])('data of a build before the first release is refused: %s', async (_, statements) => {
    const room = await store.room();
    await (await opened(room.settings)).close();
    await inRoom(room, async ({ sql }) => {
      for (const text of statements) await sql(plain(text));
    });
    const refusal = { message: 'the data is of a build before the first release', code: 'failed' };
    const operate = () => openForOperator({ ...room.settings }, { now: () => new Date() });
    for (const opening of [() => opened(room.settings), operate])
      await expect(opening()).rejects.toMatchObject({ ...refusal, hint: expect.stringContaining('build') });
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
  const create = async (service: TestService) =>
    (await service.call('POST', '/api/v2/pushes', { body: { push: { payload: 'x' } } })).status;
  const up = async (service: TestService) => (await service.call('GET', '/up')).status;

  /** Opens a service with pushes that take more than SQLite keeps in memory, a part of them in the log. */
  async function serving() {
    const service = await opened({ data });
    const push = { payload: 'x'.repeat(1024 ** 2), expire_after_views: 9 };
    const tokens = [await service.create(push), await service.create(push)];
    await service.service.housekeeping.sweep();
    tokens.push(await service.create(push));
    expect(await up(service)).toBe(200);
    return { service, tokens };
  }

  const damages: [string, () => Promise<unknown>][] = [
    ['garbage', async () => writeFile(file(), Buffer.alloc((await stat(file())).size, 'x'))],
    ['nothing', () => writeFile(file(), '')],
    ['a copy from before the start', () => copyFile(join(data, 'before'), file())],
    ['a copy of the file from before', () => copyFile(join(data, 'while'), file())],
    ['a backup', () => copyFile(join(data, 'backup'), file())],
    [
      'a backup, its log removed',
      async () => {
        await copyFile(join(data, 'backup'), file());
        for (const end of ['-wal', '-shm']) await rm(file() + end);
      },
    ],
  ];

  test.each(damages)('confirms nothing, and does not touch it: overwritten by %s', async (...row) => {
    const [, overwrite] = row;
    await openOnce({ data });
    await copyFile(file(), join(data, 'before'));
    const { service, tokens } = await serving();
    await copyFile(file(), join(data, 'while'));
    await service.expire(tokens[0] as string);
    await service.create({ payload: 'y' });
    await backup({ data }, { file: join(data, 'backup'), force: false }, {});
    await overwrite();
    const restored = await readFile(file());
    expect([await create(service), await up(service)]).toEqual([503, 503]);
    expect((await service.retrieve(tokens[1] as string)).status).toBe(503);
    await expect(service.service.housekeeping.sweep()).rejects.toThrow('unavailable');
    const line = `the database "${file()}" was overwritten: restart the service; requests get 503`;
    expect(service.warnings).toEqual([line]);
    expect(service.lines.join('\n')).not.toMatch(/ error /);
    // Also after a kill, the next start finds nothing that it would merge.
    const log = await stat(`${file()}-wal`).catch(() => ({ size: 0 }));
    expect(log.size).toBe(0);
    await service.close();
    expect((await readFile(file())).equals(restored)).toBe(true);
  });

  test.each(['-wal', '-shm'])('keeps what it has confirmed, and confirms no more: its %s removed', async (end) => {
    const { service, tokens } = await serving();
    await rm(file() + end);
    expect([await create(service), await up(service)]).toEqual([503, 503]);
    expect(service.warnings).toEqual([expect.stringContaining('lost its write-ahead log')]);
    // As after a kill: nothing was closed.
    const copy = await newFolder();
    for (const name of ['pwpush.db', 'instance.key']) await copyFile(join(data, name), join(copy, name));
    const again = await opened({ data: copy });
    for (const token of tokens) expect((await again.retrieve(token)).status).toBe(200);
  });

  test('is down until it is started again: cut', async () => {
    const { service, tokens } = await serving();
    await truncate(file(), 8 * 4096);
    const views = async () => (await service.retrieve(tokens[0] as string)).status;
    expect([await views(), await create(service), await up(service)]).toEqual([503, 503, 503]);
    expect(service.warnings).toEqual([expect.stringMatching(/unavailable \(SQLITE_CORRUPT\)/)]);
  });

  test('beside another service that merges the log, nothing is lost', async () => {
    const { service } = await serving();
    const beside = await opened({ data });
    for (const one of [beside, service, beside, service]) {
      await one.expire(await one.create({ payload: 'x'.repeat(100_000) }));
      await one.service.housekeeping.sweep();
      expect([await create(service), await create(beside)]).toEqual([201, 201]);
      expect([await up(service), await up(beside)]).toEqual([200, 200]);
    }
  });

  test.each([
    ['no file', async () => undefined],
    ['a copy', (moved: string) => copyFile(moved, file())],
  ])('confirms nothing that it would not have after a restart: %s', async (_, replace) => {
    const { service } = await serving();
    const statuses = async () => [await create(service), await up(service)];
    await rename(file(), `${file()}.moved`);
    await replace(`${file()}.moved`);
    expect(await statuses()).toEqual([503, 503]);
    // The next start must not merge the log into another file.
    expect((await stat(`${file()}-wal`)).size).toBe(0);
    await rename(`${file()}.moved`, file());
    expect(await statuses()).toEqual([201, 200]);
  });
});

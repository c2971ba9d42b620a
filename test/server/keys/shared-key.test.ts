import { chmod, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { rekey } from '../../../src/server/keys/rotation';
import { dataName } from '../../../src/server/store/database';
import { keysOf } from '../../helpers/key-file';
import { folders, released } from '../../helpers/memory';
import { onLinux } from '../../helpers/needs';
import { testService } from '../../helpers/service';

const newFolder = folders();
const anyKey = `${Buffer.alloc(32, 7).toString('base64')}\n`;
let path: string;
beforeEach(async () => {
  path = join(await newFolder(), 'shared.key');
});

/** Data of its own that is opened with the shared key, with a push. */
async function filled(payload: string, instanceKeyFile = path) {
  const settings = { data: await newFolder(), instanceKeyFile };
  const first = await testService(settings);
  const token = await first.create({ payload });
  await first.close();
  return {
    settings,
    place: `SQLite "${join(settings.data, 'pwpush.db')}"`,
    rekey: async (file = instanceKeyFile) => {
      await released(settings.data);
      return rekey({ ...settings, instanceKeyFile: file }, {});
    },
    drop: async () => {
      const named: unknown[] = [];
      await released(settings.data);
      const { resealed, old_keys } = await rekey(settings, {}, async (keys) => {
        named.push(...keys, keys.length);
      });
      expect([resealed, old_keys]).toEqual([0, []]);
      return named;
    },
    async payload() {
      const service = await testService(settings);
      const { json } = await service.retrieve(token);
      await service.close();
      return json.payload;
    },
  };
}

const keys = () => keysOf(path);

test('data is noted by the absolute path of its file', async () => {
  const data = await newFolder();
  const service = await testService({ data: relative('', data), instanceKeyFile: path });
  await service.close();
  expect(await readFile(path, 'utf8')).toContain(` SQLite "${join(data, 'pwpush.db')}"\n`);
});

test('a key stays while the file says that other data uses it', async () => {
  const [a, b] = [await filled('of a'), await filled('of b')];
  const [old] = keys();
  const { old_keys } = await a.rekey();
  expect([await a.payload(), await b.payload()]).toEqual(['of a', 'of b']);
  expect(old_keys).toEqual([{ id: expect.any(String), used_by: [b.place] }]);
  expect(keys()).toEqual([expect.any(String), old]);
  expect((await b.rekey()).old_keys).toEqual([{ id: expect.any(String), used_by: [a.place] }]);
  expect(keys()).toHaveLength(2);
  expect(keys()).not.toContain(old);
  expect([await a.payload(), await b.payload()]).toEqual(['of a', 'of b']);
});

test.each([
  ['without notes', anyKey],
  ['with a comment of its owner', `${anyKey}# of db1\n`],
])('a key %s may be that of any data', async (_, text) => {
  await writeFile(path, text, { mode: 0o600 });
  const a = await filled('of a');
  const used_by = [expect.stringContaining('not noted')];
  expect((await a.rekey()).old_keys).toEqual([{ id: expect.any(String), used_by }]);
  expect(keys()).toEqual([expect.any(String), anyKey.trim()]);
  expect((await a.rekey()).old_keys).toHaveLength(2);
});

test('dropping old keys names them, with the data they are noted for, and leaves the one in use', async () => {
  const [a, b] = [await filled('of a'), await filled('of b')];
  await a.rekey();
  const [used] = keys();
  expect(await a.drop()).toEqual([{ id: expect.any(String), used_by: [b.place] }, 1]);
  expect(keys()).toEqual([used]);
  expect(await a.payload()).toBe('of a');
  await expect(b.payload()).rejects.toThrow('is not the one');
  expect(await a.drop()).toEqual([0]);
});

test('a key that cannot be replaced opens its data, or is of other data', onLinux, async () => {
  await writeFile(path, anyKey, { mode: 0o600 });
  const file = await open(path);
  onTestFinished(() => file.close());
  await rm(path);
  const a = await filled('of a', `/proc/self/fd/${file.fd}`);
  await expect(a.rekey()).rejects.toThrow('cannot replace the instance key');
  expect(await a.payload()).toBe('of a');
  await writeFile(path, anyKey, { mode: 0o600 });
  const { old_keys } = await a.rekey(path);
  expect(old_keys).toEqual([{ id: expect.any(String), used_by: [expect.stringContaining('cannot write the file')] }]);
});

test('data in PostgreSQL is named without user and password', () => {
  const database = 'postgres://ann:hunter2@db.example:5433,[::1]/pushes?sslmode=disable';
  expect(dataName({ data: '', database })).toBe('PostgreSQL db.example:5433,::1:5432/pushes');
  const env = { PGDATABASE: 'pushes', PGPASSWORD: 'hunter2', PGUSER: 'ann' };
  const local = { data: '', database: 'postgres://?host=/run/postgresql' };
  expect(dataName(local, env)).toBe('PostgreSQL /run/postgresql:5432/pushes');
});

test('no note is lost of services that start at once with one file, whose mode stays', async () => {
  const all = await Promise.all(Array.from({ length: 6 }, (_, i) => filled(`${i}`)));
  await chmod(path, 0o640);
  all.push(await filled('later'));
  const text = await readFile(path, 'utf8');
  for (const { place } of all) expect(text.split(place)).toHaveLength(2);
  expect(keys()).toHaveLength(1);
  expect((await stat(path)).mode & 0o777).toBe(0o640);
  expect(await readdir(join(path, '..'))).toEqual(['shared.key']);
});

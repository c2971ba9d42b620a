import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { instanceKey } from '../../../src/server/keys/instance-key';
import { changeKey, rekey } from '../../../src/server/keys/rotation';
import { deleteKey, findKey } from '../../../src/server/store/key-rows';
import type { SecretRow } from '../../../src/server/store/push-rows';
import type { Database, Sql } from '../../../src/server/store/sql';
import { keysOf } from '../../helpers/key-file';
import { released } from '../../helpers/memory';
import { at, filePart, opened, type TestService, testService } from '../../helpers/service';
import { inRoom, onEachStore, type Room } from '../../helpers/stores';

const KEY = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

onEachStore((store) => {
  let room: Room;
  let path: string;
  let service: TestService;

  beforeEach(async () => {
    room = await store.room();
    path = join(room.settings.data, 'instance.key');
    service = await opened(room.settings);
  });

  const lines = () => keysOf(path);
  const current = () => Buffer.from(lines().at(-1) as string, 'base64');
  const run = async () => {
    if (store.name === 'SQLite') await released(room.settings.data);
    return rekey(room.settings, {});
  };

  const beside = <T>(work: (database: Database) => Promise<T>) => inRoom(room, work);
  const secrets = () => beside(({ sql }) => sql<SecretRow>`SELECT * FROM secrets ORDER BY push_id`);

  async function stopAndRekey() {
    await service.close();
    const done = await run();
    service = await opened(room.settings);
    return done;
  }

  const payload = async (token: string) => (await service.retrieve(token)).json.payload;

  test('all opens with the new key, and nothing that is left with the old one', async () => {
    const [old] = lines();
    const plain = await Promise.all(Array.from({ length: 220 }, (_, i) => service.create({ payload: `push ${i}` })));
    const note = { payload: 'noted', note: 'third floor', passphrase: 'sesame' };
    const noted = await service.createOwn(note);
    const files = await service.createWithFiles(filePart('a.txt', 'content'));
    const asked = await service.createRequest({ passphrase: 'sesame', public_key: KEY });
    await service.respond(asked, 'hunter2', { fields: { passphrase: 'sesame' } });
    const before = (await secrets()).flatMap(({ data_key, note_key, verifier }) =>
      [data_key, note_key, verifier].filter((value) => value !== null),
    );
    expect(before).toHaveLength(227);
    expect(await stopAndRekey()).toEqual({ resealed: 224, key_file: path, old_keys: [] });
    expect(lines()).toHaveLength(1);
    expect(lines()).not.toContain(old);
    const remains = await room.remains();
    const left = before.filter((value) => remains.includes(Buffer.from(value).subarray(0, 32)));
    expect(left).toEqual([]);
    expect(await payload(plain[7] as string)).toBe('push 7');
    expect(await payload(plain[219] as string)).toBe('push 219');
    expect(await payload(`${noted}?passphrase=sesame`)).toBe('noted');
    const [link] = (await service.retrieve(files)).json.files;
    expect((await service.fetchLink(link.url)).text).toBe('content');
    const question = `/api/v2/requests/${asked}?passphrase=sesame`;
    const read = await service.call('GET', question, service.asAdmin);
    expect(read.json).toMatchObject({ response: 'hunter2', public_key: KEY });
    const { json } = await service.call('GET', at('active'), service.asAdmin);
    const kept = { url_token: noted, note: 'third floor' };
    expect(json.find(({ note }: { note: string }) => note)).toMatchObject(kept);
  });

  if (store.name === 'PostgreSQL')
    test('no service starts meanwhile', async () => {
      await service.close();
      await beside((database) =>
        database.solely(() => expect(testService(room.settings)).rejects.toThrow('serve rekey')),
      );
      service = await opened(room.settings);
    });

  test('a service that runs all the same refuses, and takes no view', async () => {
    const push = { payload: 'x', note: 'n', expire_after_views: 1 };
    const token = await service.createOwn(push);
    await beside((database) => database.exclusively((sql) => changeKey(sql, room.settings)));
    const refused = [
      await service.retrieve(token),
      await service.call('POST', '/api/v2/pushes', { body: { push: { payload: 'y' } } }),
      await service.call('GET', at('active'), service.asAdmin),
    ];
    for (const { status, headers } of refused) expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    expect(await secrets()).toHaveLength(1);
    await service.close();
    service = await opened(room.settings);
    expect(await payload(token)).toBe('x');
  });

  test('an interruption at any statement leaves the old key in use, and both in the file', async () => {
    const token = await service.create({ payload: 'kept', expire_after_views: 50 });
    const old = lines();
    let count = 0;
    const failing =
      (sql: Sql, after: number): Sql =>
      (...statement) => {
        count += 1;
        return count > after ? Promise.reject(new Error('stopped')) : sql(...statement);
      };
    for (let after = 0; ; after += 1) {
      count = 0;
      const change = beside((database) => database.exclusively((sql) => changeKey(failing(sql, after), room.settings)));
      if (await change.catch(() => undefined)) break;
      expect(lines()).toEqual(after < 2 ? old : [expect.any(String), ...old]);
      expect(await payload(token)).toBe('kept');
    }
    expect(count).toBeGreaterThan(8);
    expect(lines()).toHaveLength(2);
    await stopAndRekey();
    expect(lines()).toHaveLength(1);
    expect(await payload(token)).toBe('kept');
  });

  test.each([
    ['before the transaction', (used: string, other: string) => `${other}${used}`],
    ['after it', (used: string, other: string) => `${used}${other}`],
  ])('what was killed %s is run again', async (_when, both) => {
    const token = await service.create({ payload: 'kept' });
    writeFileSync(`${path}.0123456789ab.part`, 'half a dra');
    const used = readFileSync(path, 'utf8');
    const other = used.replace(current().toString('base64'), Buffer.alloc(32, 7).toString('base64'));
    writeFileSync(path, both(used, other));
    const before = lines();
    expect(await stopAndRekey()).toMatchObject({ resealed: 1 });
    expect(lines()).toHaveLength(1);
    expect(before).not.toContain(lines()[0]);
    expect(await beside(({ sql }) => findKey(sql))).toBe(instanceKey(current()).id);
    expect(await payload(token)).toBe('kept');
    expect(readdirSync(room.settings.data).filter((name) => /key\./.test(name))).toEqual([]);
  });

  test('no key leaves the database while anything is sealed with it', async () => {
    await service.create({ payload: 'x' });
    await beside(async (database) => {
      const id = (await findKey(database.sql)) as string;
      await expect(database.transaction((sql) => deleteKey(sql, id))).rejects.toThrow();
      expect(await findKey(database.sql)).toBe(id);
    });
  });
});

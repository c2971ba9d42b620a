import {
  chmodSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { instanceKey, replaceInstanceKeys } from '../../../src/server/keys/instance-key';
import { Keyring, readLinks } from '../../../src/server/keys/keyring';
import { rekey } from '../../../src/server/keys/rotation';
import { Vault } from '../../../src/server/keys/vault';
import { deleteKey, insertKey, listKeys, listSealedWith } from '../../../src/server/store/key-rows';
import type { SecretRow, StoredPush } from '../../../src/server/store/push-rows';
import type { Database } from '../../../src/server/store/sql';
import { atRest } from '../../helpers/at-rest';
import {
  call,
  create,
  createWithFiles,
  fetchLink,
  filePart,
  type TestService,
  testService,
} from '../../helpers/service';
import { onEachStore, type Room } from '../../helpers/stores';
import { open } from '../lock';

const io = { sleep: async () => {} };

onEachStore((store) => {
  let room: Room;
  let path: string;
  let service: TestService;
  let beside: Database;

  beforeEach(async () => {
    room = await store.room();
    path = join(room.settings.data, 'instance.key');
    const here = await atRest(room);
    ({ service, beside } = here);
    return here.close;
  });

  const lines = () => readFileSync(path, 'utf8').trim().split('\n');
  const run = () => rekey(room.settings, io);
  const secrets = () => beside.sql<SecretRow>`SELECT * FROM secrets ORDER BY push_id`;
  const retrieve = (token: string, by = service, passphrase = '') =>
    call(by, 'GET', `/api/v2/pushes/${token}?passphrase=${passphrase}`);
  const payload = async (token: string, by = service, passphrase = '') =>
    (await retrieve(token, by, passphrase)).json.payload;
  const many = (count: number, by = service) =>
    Promise.all(Array.from({ length: count }, (_, i) => create(by, { payload: `push ${i}` })));

  test('all opens with the new key, and nothing that is left with the old one', async () => {
    const [old] = lines();
    const plain = await many(120);
    const note = { payload: 'noted', note: 'third floor', passphrase: 'sesame' };
    const noted = await create(service, note, service.adminToken);
    const before = (await secrets()).flatMap(({ data_key, note_key, verifier }) =>
      [data_key, note_key, verifier].filter((value) => value !== null),
    );
    expect(before).toHaveLength(123);
    expect(await run()).toEqual({ resealed: 121, keyFile: path, scrubbed: true });
    expect(lines()).toHaveLength(1);
    expect(lines()).not.toContain(old);
    const remains = await room.remains();
    const left = before.filter((value) => remains.includes(Buffer.from(value).subarray(0, 32)));
    expect(left).toEqual([]);
    expect(await payload(plain[7] as string)).toBe('push 7');
    expect(await payload(noted, service, 'sesame')).toBe('noted');
    const listed = await call(service, 'GET', '/api/v2/pushes/active', {
      token: service.adminToken,
    });
    expect(listed.json[0].note).toBe('third floor');
  });

  test('a service that has not heard of it opens, seals and lists as before', async () => {
    const [held, listed] = [
      await create(service, { payload: 'held', expire_after_views: 1 }),
      await create(service, { payload: 'x', note: 'listed' }, service.adminToken),
    ];
    await run();
    const mine = await call(service, 'GET', '/api/v2/pushes/active', { token: service.adminToken });
    expect(mine.json.map(({ note }: { note: string }) => note)).toEqual(['listed']);
    expect(await payload(held)).toBe('held');
    await run();
    const made = await create(service, { payload: 'made', passphrase: 'sesame' });
    const [id] = await listKeys(beside.sql);
    expect((await secrets()).map(({ key_id }) => key_id)).toEqual([id, id]);
    await run();
    expect(await payload(made, service, 'sesame')).toBe('made');
    const second = await testService(room.settings);
    expect(await payload(made, second, 'sesame')).toBe('made');
    expect(await payload(listed, second)).toBe('x');
    await second.close();
  });

  test('what is sealed meanwhile with the old key is sealed again, too', async () => {
    await many(60);
    let late = '';
    const sleep = async () => {
      late ||= await create(service, { payload: 'late' });
    };
    expect(await rekey(room.settings, { sleep })).toMatchObject({ resealed: 61 });
    expect(await payload(late)).toBe('late');
  });

  test('links to files go on, across services, until their time is over', async () => {
    const other = await testService({ ...room.settings, clock: service.clock });
    const token = await createWithFiles(service, filePart('a.txt', 'content'));
    const before = (await retrieve(token)).json.files[0].url;
    await run();
    expect((await fetchLink(service, before)).text).toBe('content');
    const after = (await retrieve(token)).json.files[0].url;
    expect((await fetchLink(other, after)).text).toBe('content');
    expect((await fetchLink(other, before)).text).toBe('content');
    service.clock.advance(5 * 60_000);
    expect((await fetchLink(service, before)).status).toBe(404);
    await other.close();
  });

  describe('goes on where it was stopped:', () => {
    const next = Buffer.alloc(32, 7);
    const current = () => Buffer.from(lines().at(-1) as string, 'base64');

    async function finished(token: string) {
      expect(lines()).toHaveLength(1);
      expect(await listKeys(beside.sql)).toEqual([
        instanceKey(Buffer.from(lines()[0] as string, 'base64')).id,
      ]);
      expect(await payload(token)).toBe('kept');
      expect(readdirSync(room.settings.data).filter((name) => /key\./.test(name))).toEqual([]);
    }

    test('with the new key in the file alone', async () => {
      const token = await create(service, { payload: 'kept' });
      writeFileSync(`${path}.0123456789ab`, 'half a dra');
      replaceInstanceKeys(path, [next, current()]);
      expect(await run()).toMatchObject({ resealed: 1 });
      expect(lines()).toEqual([next.toString('base64')]);
      await finished(token);
    });

    test('with some sealed again, by a service that started meanwhile', async () => {
      const token = await create(service, { payload: 'kept' });
      replaceInstanceKeys(path, [next, current()]);
      await insertKey(beside.sql, instanceKey(next).id);
      const second = await testService(room.settings);
      const made = await create(second, { payload: 'made' });
      expect(await payload(made)).toBe('made');
      await second.close();
      expect(await run()).toMatchObject({ resealed: 1 });
      expect(lines()).toEqual([next.toString('base64')]);
      await finished(token);
    });

    test('with the old key in the file alone', async () => {
      const token = await create(service, { payload: 'kept' });
      const old = current();
      await run();
      replaceInstanceKeys(path, [current(), old]);
      expect(await run()).toMatchObject({ resealed: 1 });
      await finished(token);
    });
  });

  test('no key leaves the database while anything is sealed with it', async () => {
    await create(service, { payload: 'x' });
    const [id = ''] = await listKeys(beside.sql);
    await expect(beside.transaction((sql) => deleteKey(sql, id))).rejects.toThrow();
    expect(await listSealedWith(beside.sql, id, 10)).toHaveLength(1);
  });

  describe('a service with a key file of its own', () => {
    let elsewhere: string;
    let other: TestService;

    beforeEach(async () => {
      elsewhere = join(room.settings.data, 'instance.key-of-another');
      copyFileSync(path, elsewhere);
      other = await testService({ ...room.settings, instanceKeyFile: elsewhere });
    });
    afterEach(() => other.close());

    test('refuses for as long as it lacks it, and takes no view', async () => {
      const token = await create(other, { payload: 'x', expire_after_views: 1 });
      await run();
      const refused = [
        await retrieve(token, other),
        await call(other, 'POST', '/api/v2/pushes', { body: { push: { payload: 'y' } } }),
      ];
      expect(refused.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
        [503, '5'],
        [503, '5'],
      ]);
      expect(other.warnings).toEqual([
        `"${elsewhere}" lacks an instance key in use: copy it from where it was changed`,
      ]);
      await expect(testService({ ...room.settings, instanceKeyFile: elsewhere })).rejects.toThrow(
        'is not the one that this data was encrypted with',
      );
      copyFileSync(path, elsewhere);
      expect(await payload(token, other)).toBe('x');
    });
  });

  test.skipIf(process.platform === 'win32')(
    'the file stays readable for whoever read it',
    async () => {
      chmodSync(path, 0o640);
      await run();
      expect(statSync(path).mode & 0o777).toBe(0o640);
    },
  );

  test('data without a service, or with a strange key, is refused', async () => {
    const nowhere = { ...(await store.room()).settings };
    await expect(rekey(nowhere, io)).rejects.toThrow(/no (database in|instance key yet)/);
    writeFileSync(path, `${Buffer.alloc(32, 9).toString('base64')}\n`);
    await expect(run()).rejects.toThrow('is not the one that this data was encrypted with');
  });

  test.runIf(store.name === 'SQLite')(
    'a reader that keeps the log from being emptied is told of',
    async () => {
      await create(service, { payload: 'x' });
      const [row] = await secrets();
      const old = Buffer.from(row?.data_key ?? []);
      const reader = open(join(room.settings.data, 'pwpush.db'));
      reader.exec('BEGIN; SELECT count(*) FROM pushes');
      expect(await run()).toMatchObject({ resealed: 1, scrubbed: false });
      expect((await room.remains()).includes(old)).toBe(true);
      reader.exec('ROLLBACK');
      reader.close();
      await service.service.housekeeping.sweep();
      expect((await room.remains()).includes(old)).toBe(false);
    },
  );

  test('the old key does not open a row that was sealed again', async () => {
    const key = instanceKey(Buffer.from(lines()[0] as string, 'base64'));
    const old = new Vault(new Keyring([key], await readLinks(beside.sql, [key])));
    const url_token = await create(service, { payload: 'x' });
    const [push] = await beside.sql<StoredPush>`SELECT * FROM pushes`;
    const terms = { ...(push as StoredPush), url_token };
    const [before] = await secrets();
    expect(old.openKey(terms, before as SecretRow)).toHaveLength(32);
    await run();
    const [row] = await secrets();
    const claimed = { ...(row as SecretRow), key_id: key.id };
    expect(() => old.openKey(terms, claimed)).toThrow();
  });
});

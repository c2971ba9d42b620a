import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openForOperator } from '../../src/server/open-service';
import { backup } from '../../src/server/ops/database-copy';
import { restore } from '../../src/server/restore';
import { plain } from '../../src/server/store/sql';
import { lockSqlite, openSqlite } from '../../src/server/store/sqlite';
import { pragma, sqliteDriver } from '../../src/server/store/sqlite-driver';
import { eachFault } from '../helpers/faults';
import { folders, released } from '../helpers/memory';
import { onLinux } from '../helpers/needs';
import { opened, testClock, testService } from '../helpers/service';
import { sqliteIn } from '../helpers/stores';

type OperatorData = Awaited<ReturnType<typeof openForOperator>>;

const newFolder = folders();

describe('a restore', () => {
  const KEPT = 'pwpush.db.before-2026-08-20T110645.000Z';
  let clock: ReturnType<typeof testClock>;
  let data: string;
  let file: string;
  let first: string;

  /** Puts the data in the folder, with a backup that has one push, and a second push that it does not have. */
  beforeEach(async () => {
    clock = testClock();
    data = await newFolder();
    file = join(await newFolder(), 'copy.db');
    const service = await testService({ data });
    first = await service.create({ payload: 'first' });
    await backup({ data }, { file, force: false }, {});
    await service.retrieve(first);
    await service.create({ payload: 'second' });
    await service.close();
  });

  const restoring = async (from = file, location: object = {}) => {
    await released(data);
    return restore({ data, ...location }, from, clock);
  };

  /** The numbers of pushes and of views in a folder. */
  const contentsOf = async (folder: string) => {
    const database = await sqliteIn(folder);
    const rows = await database.sql<{ views: number }>`SELECT views FROM pushes ORDER BY id`;
    await database.close();
    return rows.map(({ views }) => views);
  };

  const names = () => readdirSync(data).filter((name) => /^pwpush\.db(?!-(wal|shm)$)/.test(name));

  test('has what the backup has, and keeps the old database beside it', async () => {
    expect(await restoring()).toEqual({
      database: join(data, 'pwpush.db'),
      kept: join(data, KEPT),
      revoked: [],
      unchecked: [],
      trusts: { removed: [], unchecked: [] },
    });
    expect(names()).toEqual(['pwpush.db', KEPT]);
    for (const name of names()) expect(statSync(join(data, name)).mode & 0o777).toBe(0o600);
    const service = await opened({ data });
    expect((await service.retrieve(first)).json).toMatchObject({ payload: 'first', views_remaining: 4 });
    // It is not taken for the new one, however many changes it has had.
    const restored = readFileSync(join(data, 'pwpush.db'));
    const old = readFileSync(join(data, KEPT));
    old.writeUInt32BE(9999, 24);
    writeFileSync(join(data, 'pwpush.db'), old);
    expect((await service.call('GET', '/up')).status).toBe(503);
    writeFileSync(join(data, 'pwpush.db'), restored);
    await service.close();
    // What is kept is a database as well.
    clock.advance(1000);
    await restoring(join(data, KEPT));
    expect(await contentsOf(data)).toEqual([1, 0]);
  });

  test('into an empty folder needs the instance key alone', async () => {
    const empty = join(await newFolder(), 'data');
    const moved = { data: empty, instanceKeyFile: join(data, 'instance.key') };
    expect(await restoring(file, moved)).toEqual({
      database: join(empty, 'pwpush.db'),
      kept: null,
      revoked: [],
      unchecked: [
        { id: expect.any(String), name: 'admin' },
        { id: expect.any(String), name: 'bob' },
      ],
      trusts: { removed: [], unchecked: [] },
    });
    expect(await contentsOf(empty)).toEqual([0]);
  });

  describe('and tokens that were revoked since', () => {
    /** Works on the tokens of the data, as the commands of the operator do. */
    const operating = async <T>(work: (owners: OperatorData['owners']) => Promise<T>) => {
      const operator = await openForOperator({ data }, clock);
      return work(operator.owners).finally(operator.close);
    };
    const listed = async () => (await operating((owners) => owners.list())).map(({ id }) => id);
    const copied = () => backup({ data }, { file, force: true }, {});
    const add = (name: string) => operating((owners) => owners.add(name));

    test('stay revoked, and no others', async () => {
      const [left, one, other] = [await add('carol'), await add('dave'), await add('dave')];
      await copied();
      const before = await listed();
      for (const which of ['carol', one.id]) await operating((owners) => owners.revoke(which));
      await add('erin');
      const revoked = [
        { id: left.id, name: 'carol' },
        { id: one.id, name: 'dave' },
      ];
      expect(await restoring()).toMatchObject({ revoked, unchecked: [] });
      expect(await listed()).toEqual(before.filter((id) => id !== left.id && id !== one.id));
      const known = ({ token }: { token: string }) => operating((owners) => owners.knows(token));
      expect([await known(left), await known(one), await known(other)]).toEqual([false, false, true]);
      const have = [file, join(data, 'pwpush.db')].map((path) => readFileSync(path).includes(left.id));
      expect(have).toEqual([true, false]);
    });

    test('stay replaced, and end when they would have', async () => {
      const [ended, ending] = [await add('carol'), await add('dave')];
      await copied();
      await operating((owners) => owners.replace(ended.id));
      clock.advance(50 * 60_000);
      await operating((owners) => owners.replace(ending.id));
      clock.advance(20 * 60_000);
      const revoked = [{ id: ended.id, name: 'carol' }];
      expect(await restoring()).toMatchObject({ revoked, unchecked: [] });
      expect(await listed()).toContain(ending.id);
      clock.advance(41 * 60_000);
      expect(await listed()).not.toContain(ending.id);
    });

    test('cannot be told by data that did not come from the backup', async () => {
      const before = await operating((owners) => owners.list());
      rmSync(join(data, 'pwpush.db'));
      clock.advance(1000);
      await (await testService({ data, clock })).close();
      const unchecked = before.map(({ id, name }) => ({ id, name }));
      expect(await restoring()).toMatchObject({ revoked: [], unchecked });
      expect(await listed()).toEqual(before.map(({ id }) => id));
    });
  });

  describe('and trusts that were removed since', () => {
    const operating = async <T>(work: (trusts: OperatorData['trusts']) => Promise<T>) => {
      const operator = await openForOperator({ data }, clock);
      return work(operator.trusts).finally(operator.close);
    };
    const add = (name: string) => {
      const rest = { scope: 'push', lifetime: 600, private_issuer: false } as const;
      const trust = { name, issuer: 'https://ci.example.com', claims: ['team=x'], user: 'ci', ...rest };
      return operating((trusts) => trusts.add(trust));
    };
    const listed = async () =>
      (await operating((trusts) => trusts.list())).map(({ name, tokens }) => ({ name, tokens }));
    /** Makes a backup with two trusts, which have a token that is valid and one that has ended. */
    const copied = async () => {
      await add('left');
      await add('kept');
      const database = await sqliteIn(data);
      for (const end of [-1, 60_000])
        await database.sql`
          INSERT INTO tokens (selector, owner_id, label, scope, maker, digest, created_at, ends_at, trust_id)
          SELECT name || ${`${end}`}, owner_id, '', scope, maker, CAST(name || ${`${end}`} AS BLOB), 0,
            ${clock.now().getTime() + end}, id
          FROM trusts`;
      await database.close();
      await backup({ data }, { file, force: true }, {});
    };

    test('stay removed with the tokens that they gave, also where another has the name', async () => {
      await copied();
      await operating((trusts) => trusts.remove('left'));
      await add('left');
      const revoked = [{ id: 'left60000', name: 'ci' }];
      expect(await restoring()).toMatchObject({ revoked, trusts: { removed: ['left'], unchecked: [] } });
      expect(await listed()).toEqual([{ name: 'kept', tokens: 1 }]);
    });

    test('are named where that is not known', async () => {
      await copied();
      rmSync(join(data, 'pwpush.db'));
      clock.advance(1000);
      await (await testService({ data, clock })).close();
      expect(await restoring()).toMatchObject({ trusts: { removed: [], unchecked: ['left', 'kept'] } });
      expect(await listed()).toEqual([
        { name: 'left', tokens: 1 },
        { name: 'kept', tokens: 1 },
      ]);
    });
  });

  test('is refused while a service runs', async () => {
    const service = await opened({ data });
    await expect(restoring()).rejects.toMatchObject({ code: 'usage', message: /in use/ });
    expect((await service.retrieve(first)).status).toBe(200);
    await service.close();
    expect(await contentsOf(data)).toEqual([2, 0]);
  });

  test('keeps a service from starting', async () => {
    await released(data);
    const lock = await lockSqlite(join(data, 'pwpush.db'), (load) => load());
    await expect(restoring()).rejects.toThrow('in use');
    const connection = (await sqliteDriver((load) => load()))(join(data, 'pwpush.db'));
    expect(() => pragma(connection, 'journal_mode = WAL')).toThrow('locked');
    connection.close();
    lock?.unlock();
    expect(await contentsOf(data)).toEqual([1, 0]);
  });

  const DAMAGED = 'is damaged, or not a backup by this version';
  const written = (text: string | Uint8Array, path = `${file}.bad`) => {
    writeFileSync(path, text);
    return path;
  };
  const changed = async (...statements: string[]) => {
    const path = written(readFileSync(file));
    const database = await openSqlite(path, (load) => load());
    for (const text of statements) await database.transaction((sql) => sql(plain(text)));
    await database.close();
    await released(dirname(path));
    return path;
  };

  test.each([
    ['cut off', () => written(readFileSync(file).subarray(0, 100_000)), DAMAGED],
    ['of one page that is damaged', () => written(readFileSync(file).fill(0xff, 5 * 4096, 6 * 4096)), DAMAGED],
    ['no database', () => written('hunter2'), DAMAGED],
    ['empty', () => written(''), DAMAGED],
    ['of another schema', () => changed('ALTER TABLE owners ADD COLUMN more TEXT'), DAMAGED],
    ['missing', () => `${file}.none`, 'no such file'],
    ['a folder', () => data, 'no such file'],
    ['the database itself', () => join(data, 'pwpush.db'), 'is the database itself'],
    ['with a log beside it', () => written('', `${file}-wal`) && file, 'has a write-ahead log'],
  ] as const)('of a file that is %s changes nothing', async (_, made, message) => {
    const before = readFileSync(join(data, 'pwpush.db'));
    await expect(restoring(await made())).rejects.toThrow(message);
    expect(names()).toEqual(['pwpush.db']);
    expect(await contentsOf(data)).toEqual([1, 0]);
    expect(before.length).toBe(readFileSync(join(data, 'pwpush.db')).length);
  });

  test.each([
    ['missing', () => undefined, 'is missing'],
    ['another', (path: string) => void writeFileSync(path, `${'A'.repeat(43)}=\n`), 'is not the one'],
  ])('with a key that is %s changes nothing', async (_, make, message) => {
    const instanceKeyFile = join(data, 'other.key');
    make(instanceKeyFile);
    await expect(restoring(file, { instanceKeyFile })).rejects.toThrow(message);
    expect(names()).toEqual(['pwpush.db']);
    expect(await contentsOf(data)).toEqual([1, 0]);
  });

  test('of a PostgreSQL names its own program', async () => {
    await expect(restoring(file, { database: 'postgres://x/y' })).rejects.toMatchObject({
      code: 'usage',
      hint: 'restore it with pg_restore',
    });
  });

  test('over a damaged database keeps that', async () => {
    const damaged = Buffer.alloc(8192, 'x');
    writeFileSync(join(data, 'pwpush.db'), damaged);
    const unchecked = [{ name: 'admin' }, { name: 'bob' }];
    expect(await restoring()).toMatchObject({ revoked: [], unchecked });
    expect(readFileSync(join(data, KEPT))).toEqual(damaged);
    expect(await contentsOf(data)).toEqual([0]);
  });

  test('does not take the log of a database that is gone for its own', async () => {
    const service = await opened({ data });
    await service.retrieve(first);
    const log = readFileSync(join(data, 'pwpush.db-wal'));
    await service.close();
    rmSync(join(data, 'pwpush.db'));
    await released(data);
    writeFileSync(join(data, 'pwpush.db-wal'), log);
    for (const end of ['-journal', '-shm']) writeFileSync(join(data, `pwpush.db${end}`), 'old');
    expect(await restoring()).toMatchObject({ kept: null });
    const left = readdirSync(data).filter((name) => name.startsWith('pwpush.db'));
    expect(left).toEqual(['pwpush.db', `${KEPT}-journal`, `${KEPT}-wal`]);
    expect(await contentsOf(data)).toEqual([0]);
  });

  test('that fails at any moment leaves the old database or the new one', onLinux, async () => {
    const bytes = readFileSync(join(data, 'pwpush.db'));
    const failed = await eachFault(async (failing) => {
      for (const name of names()) rmSync(join(data, name));
      writeFileSync(join(data, 'pwpush.db'), bytes);
      const done = await failing(data, () => restoring()).then(
        () => true,
        () => false,
      );
      const contents = await contentsOf(data);
      expect(done ? [[0]] : [[0], [1, 0]]).toContainEqual(contents);
      // A draft is left only where nothing can be removed.
      expect(names().filter((name) => name !== 'pwpush.db' && name !== KEPT)).toEqual([]);
    });
    const calls = failed.map((one) => one.replace(/\.[\da-f]{12}\.part$/, '.new'));
    // On the disk before it has the name, and the old one before it loses that.
    const linking = calls.indexOf('link pwpush.db');
    expect(calls.slice(linking - 1, linking + 4)).toEqual([
      'fsync pwpush.db.new',
      'link pwpush.db',
      'fsync ',
      'rename pwpush.db.new',
      'fsync ',
    ]);
  });
});

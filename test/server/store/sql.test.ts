import { beforeEach, describe, expect, test } from 'vitest';
import { ServiceRefusal } from '../../../src/server/service-errors';
import { type Database, onRows, type Value } from '../../../src/server/store/sql';
import { inRoom, onEachStore, type Room } from '../../helpers/stores';
import { add, createThings, namesIn } from './things';

onEachStore((store) => {
  let room: Room;
  let database: Database;

  beforeEach(async () => {
    room = await store.room();
    database = await room.beside();
    await createThings(database);
    return () => database.close();
  });

  test('values come back as they went in', async () => {
    const at = Date.UTC(2026, 7, 20);
    await database.sql`INSERT INTO things VALUES (${'a'}, ${Buffer.from([0, 1, 255])}, ${at})`;
    await database.sql`INSERT INTO things VALUES (${'b'}, ${null}, ${null})`;
    await database.sql`INSERT INTO things VALUES (${"c' --"}, ${new Uint8Array(0)}, ${0})`;
    const rows = await database.sql<{ name: string; data: Uint8Array | null; at: number | null }>`
      SELECT * FROM things ORDER BY name`;
    expect(rows.map(({ name, data, at }) => [name, data && [...data], at])).toEqual([
      ['a', [0, 1, 255], at],
      ['b', null, null],
      ["c' --", [], 0],
    ]);
    const found = await database.sql`
      SELECT name FROM things WHERE data = ${Buffer.from([0, 1, 255])}`;
    expect(found).toEqual([{ name: 'a' }]);
    expect(await database.sql`SELECT count(*) AS n FROM things`).toEqual([{ n: 3 }]);
  });

  test('others that have it open are known', async () => {
    const none = store.name === 'SQLite' ? 'none' : 'none yet';
    expect(await database.others()).toBe(none);
    await add(database.sql, 'a');
    await inRoom(room, async (beside) => expect(await beside.others()).toBe('some'));
    // libsql keeps a closed file open until its statements are collected.
    if (store.name === 'PostgreSQL')
      await expect.poll(() => database.others(), { message: 'connections that are closed' }).toBe(none);
  });

  test('a transaction that fails leaves nothing, and the next goes on', async () => {
    const failed = database.transaction(async (sql) => {
      await add(sql, 'a');
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    await database.transaction((sql) => add(sql, 'b'));
    await expect(add(database.sql, 'b')).rejects.toThrow();
    expect(await namesIn(database)).toEqual(['b']);
  });

  describe('transactions with keys, at once', () => {
    type Thing = Record<'name' | 'data' | 'at', Value>;
    const insertion = onRows<Thing>(
      { name: 'TEXT', data: 'BYTEA', at: 'BIGINT' },
      'INSERT INTO things (name, data, at) SELECT * FROM input RETURNING name, data, at',
      'name',
    );
    const insert = (name: string, data: Value = null, after = async () => {}) =>
      database.transaction(
        async (sql) => {
          const thing = await insertion(sql, { name, data, at: name.length });
          await after();
          return thing;
        },
        { key: name },
      );
    test('each gets its own, whatever it is', async () => {
      const texts = ['', '"', '\\x', '{,}', 'NULL', "b' --", 'a\nb\tc', '\\"\\', '🔑 ключ'];
      const bytes = [null, new Uint8Array(0), Buffer.from([0, 34, 92, 255]), Buffer.alloc(99_999, 7)];
      const things = texts.map((name, i) => ({ name, data: bytes[i % 4] as Value }));
      const added = await Promise.all(things.map(({ name, data }) => insert(name, data)));
      const plainly = ({ name, data }: Pick<Thing, 'name' | 'data'>) => [
        name,
        data && Buffer.from(data as Uint8Array).toString('hex'),
      ];
      expect(added.map((thing) => plainly(thing as Thing))).toEqual(things.map(plainly));
    });

    test.each([
      ['a refusal of one', new ServiceRefusal('abandoned', 'gone')],
      ['an error of one', new Error('no')],
      ['one that the database refuses', undefined],
    ])('after %s, the others are done', async (_, error) => {
      if (!error) await insert('bb');
      const fail = async () => error && Promise.reject(error);
      const outcomes = await Promise.allSettled([insert('a'), insert('bb', null, fail), insert('ccc')]);
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      if (error) expect(outcomes[1]).toMatchObject({ reason: error });
      expect(await namesIn(database)).toEqual(error ? ['a', 'ccc'] : ['a', 'bb', 'ccc']);
    });

    test('those of one key follow one another', async () => {
      await add(database.sql, 'a');
      const count = () =>
        database.transaction(
          async (sql) => {
            const [thing] = await sql<Thing>`SELECT at FROM things`;
            await sql`UPDATE things SET at = ${Number(thing?.at) + 1}`;
          },
          { key: 'a' },
        );
      await Promise.all(Array.from({ length: 30 }, count));
      expect(await database.sql`SELECT at FROM things`).toEqual([{ at: 30 }]);
    });
  });
});

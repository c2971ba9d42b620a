import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, plain } from '../../../src/server/store/sql';
import { onEachStore } from '../../helpers/stores';

onEachStore((store) => {
  let database: Database;

  beforeEach(async () => {
    database = await (await store.room()).beside();
    const { blob } = database.dialect;
    await database.sql(
      plain(`CREATE TABLE things (name TEXT PRIMARY KEY, data ${blob}, at BIGINT)`),
    );
  });

  afterEach(() => database.close());

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

  test('a transaction that fails leaves nothing, and the next goes on', async () => {
    const failed = database.transaction(async (sql) => {
      await sql`INSERT INTO things VALUES ('a', NULL, NULL)`;
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    await database.transaction((sql) => sql`INSERT INTO things VALUES ('b', NULL, NULL)`);
    await expect(database.sql`INSERT INTO things VALUES ('b', NULL, NULL)`).rejects.toThrow();
    expect(await database.sql`SELECT name FROM things`).toEqual([{ name: 'b' }]);
  });
});

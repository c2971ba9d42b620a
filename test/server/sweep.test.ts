import { expect, test } from 'vitest';
import type { Database } from '../../src/server/store/sql';
import { notedDatabase, overDatabase } from '../helpers/over-database';
import { create, createWithFiles, filePart } from '../helpers/service';

/** Nobody else is answered from SQLite while a transaction runs, and a gigabyte takes seconds to overwrite. */
test('a sweep deletes the files of one push a transaction', async () => {
  const { database } = await notedDatabase();
  const uploads: number[] = [];
  const exclusively: Database['exclusively'] = async (work) => {
    const at = uploads.push(0) - 1;
    return database.exclusively((sql) =>
      work((strings, ...values) => {
        if (/^\s*DELETE FROM uploads/.test(strings[0] ?? '')) uploads[at] = (uploads[at] ?? 0) + 1;
        return sql(strings, ...values);
      }),
    );
  };
  const service = overDatabase({ ...database, exclusively });
  const admin = { fetch: service.fetch, adminToken: await service.owners.add('admin') };
  for (const name of ['a', 'b', 'c']) await createWithFiles(admin, filePart(name, name));
  await create(service, { payload: 'x' });
  service.clock.advance(7 * 86_400_000);
  expect(await service.sweep()).toBe(4);
  expect(uploads).toEqual([0, 1, 1, 1, 0]);
  await database.close();
});

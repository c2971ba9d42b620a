import { expect, onTestFinished, test } from 'vitest';
import { openOwners } from '../../../src/server/open-service';
import { testClock } from '../../helpers/service';
import { onSharedPostgres, openBeside } from '../../helpers/stores';
// On PostgreSQL.
import './owners.test';

onSharedPostgres((databases) => {
  test('an empty database is left empty unless a new one is asked for', async () => {
    const database = databases().localUrl(await databases().createDatabase());
    const owners = await openOwners({ data: '', database }, testClock());
    onTestFinished(() => owners.close());
    await expect(owners.add('admin')).rejects.toThrow(
      'no database in the PostgreSQL of --database',
    );
    const beside = await openBeside(database);
    const tables = await beside.sql`SELECT * FROM pg_tables WHERE schemaname = 'public'`;
    await beside.close();
    expect(tables).toEqual([]);
    await owners.add('admin', { create: true });
    expect(owners.made()).toBe('the PostgreSQL of --database');
  });
});

import { expect, onTestFinished, test } from 'vitest';
import { openForOperator } from '../../../src/server/open-service';
import { testClock } from '../../helpers/service';
import { onSharedPostgres, openBeside } from '../../helpers/stores';
// On PostgreSQL.
import './owners.test';

onSharedPostgres((databases) => {
  test('an empty database is left empty unless a new one is asked for', async () => {
    const database = databases().localUrl(await databases().createDatabase());
    const open = (create?: boolean) => openForOperator({ data: '', database }, testClock(), create);
    await expect(open(false)).rejects.toThrow('no service has used that PostgreSQL database');
    const beside = await openBeside(database);
    const tables = await beside.sql`SELECT * FROM pg_tables WHERE schemaname = 'public'`;
    await beside.close();
    expect(tables).toEqual([]);
    const { created, close } = await open(true);
    onTestFinished(close);
    expect(created).toBe(true);
  });
});

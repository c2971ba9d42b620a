import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { openForOperator } from '../../../src/server/open-service';
import type { Database } from '../../../src/server/store/sql';
import { deferred } from '../../helpers/deferred';
import { testClock } from '../../helpers/service';
import { onSharedPostgres, openBeside } from '../../helpers/stores';
// On PostgreSQL.
import './trusts.test';

onSharedPostgres((databases) => {
  let database: string;

  beforeEach(async () => {
    database = databases().localUrl(await databases().createMigrated());
  });

  test('a trust that is removed ends a token that it is just giving, too', async () => {
    const { trusts, close } = await openForOperator({ data: '', database }, testClock());
    onTestFinished(close);
    const beside = await openBeside(database);
    onTestFinished(() => beside.close());
    await trusts.add({
      ...{ name: 'app', issuer: 'https://ci.example.com', claims: ['team=x'], user: 'ci' },
      ...{ scope: 'push', lifetime: 600, private_issuer: false },
    });
    const [given, going] = [deferred(), deferred()];
    const giving = beside.transaction(async (sql) => {
      await sql`
        INSERT INTO tokens (selector, owner_id, label, scope, maker, digest, created_at, ends_at, trust_id)
        SELECT 'aaaaaaaa', owner_id, '', scope, maker, 'x', 0, 1, id FROM trusts`;
      given.resolve();
      await going.promise;
    });
    await given.promise;
    const removing = trusts.remove('app');
    await expect.poll(() => waiting(beside), { message: 'the removal waits' }).toBe(1);
    going.resolve();
    await giving;
    expect(await removing).toBe(0);
    expect([await trusts.all(), await beside.sql`SELECT selector FROM tokens`]).toEqual([[], []]);
  });
});

const waiting = async ({ sql }: Database) =>
  (await sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).length;

import { beforeEach, expect, test } from 'vitest';
import { migrate } from '../../../src/server/store/database';
import type { Database, Sql } from '../../../src/server/store/sql';
import { openMemory } from '../../../src/server/store/sqlite';
import { calls, operations } from './statements';

// However many pushes there are, each statement goes straight to the few rows it is about.

let database: Database;
/** Is asked for plans: with libsql (0.5.29) a connection that explained a write opens no savepoint any more. */
let beside: Database;

beforeEach(async () => {
  database = await openMemory((load) => load());
  beside = await openMemory((load) => load());
  await migrate(database);
  await migrate(beside);
  return async () => {
    await database.close();
    await beside.close();
  };
});

type Call = (sql: Sql) => Promise<unknown>;

/** The steps of all statements that the call runs. */
async function plan(call: Call): Promise<string[]> {
  const steps: string[] = [];
  await call(async (strings, ...values) => {
    const [first = '', ...rest] = strings;
    const explain = [`EXPLAIN QUERY PLAN ${first}`, ...rest];
    const template = Object.assign(explain, { raw: explain });
    const rows = await beside.sql<{ detail: string }>(template, ...values);
    steps.push(...rows.map(({ detail }) => detail));
    return database.sql(strings, ...values);
  });
  return steps;
}

/** Steps that take the longer the more there is; owners, tokens and keys are few, and a page has fifty rows. */
const LONG =
  /^SCAN (?!owners|tokens|instance_keys|link_keys|page\b|given\b|CONSTANT ROW)|AUTOMATIC/;
const slow = async (call: Call) => (await plan(call)).filter((step) => LONG.test(step));

test('the list names everything the store can do', () => {
  expect(Object.keys(calls).sort()).toEqual(operations.sort());
});

test('no statement looks through all there is', async () => {
  const found: Record<string, string[]> = {};
  for (const [name, call] of Object.entries(calls)) {
    const steps = await slow(call);
    if (steps.length > 0) found[name] = steps;
  }
  expect(found).toEqual({
    'owners.listOwners': [expect.stringContaining('tokens')],
    // Of its foreign keys, which it does only while some are broken (OP_FkIfZero): never.
    'owners.insertOwner': ['SCAN pushes'],
  });
  // Such statements are found.
  expect(await slow((sql) => sql`SELECT id FROM audit WHERE kind = ${'view'}`)).toEqual([
    'SCAN audit',
  ]);
});

test('a page of an audit log is found in its order', async () => {
  expect(await plan(calls['audit.listEvents'] as Call)).toEqual([
    'SEARCH audit USING INDEX audit_by_push (push_id=?)',
  ]);
});

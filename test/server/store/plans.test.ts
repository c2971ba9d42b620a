import { beforeEach, describe, expect, test } from 'vitest';
import { migrate } from '../../../src/server/store/database';
import { arraysOf } from '../../../src/server/store/pg-group';
import { type Database, isRowStatement, plain, type Sql } from '../../../src/server/store/sql';
import { openMemory } from '../../../src/server/store/sqlite';
import { onSharedPostgres, openBeside } from '../../helpers/stores';
import { calls, listing, operations } from './statements';

// However many pushes there are, each statement goes straight to the few rows it is about.

type Call = (sql: Sql) => Promise<unknown>;

/** Has `explain` look at every statement that the call runs, and runs them. */
async function explained(call: Call, database: Database, explain: Sql): Promise<void> {
  await call(async (strings, ...values) => {
    await explain(strings, ...values);
    return database.sql(strings, ...values);
  });
}

/** The same statement with something before it. */
function before(words: string, [first = '', ...rest]: TemplateStringsArray): TemplateStringsArray {
  const strings = [`${words} ${first}`, ...rest];
  return Object.assign(strings, { raw: strings });
}

/** What is found by `look` in the plans of each of the store's operations. */
async function inAll(look: (call: Call) => Promise<string[]>): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const [name, call] of Object.entries(calls)) {
    const steps = await look(call);
    if (steps.length > 0) found[name] = steps;
  }
  return found;
}

const byKind: Call = (sql) => sql`SELECT id FROM audit WHERE kind = ${'view'}`;
const inOrder: Call = (sql) => sql`SELECT id FROM pushes WHERE views > ${0} ORDER BY expires_at`;

test('the list names everything the store can do', () => {
  expect(Object.keys(calls).sort()).toEqual(operations.sort());
});

describe('SQLite', () => {
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

  async function plan(call: Call): Promise<string[]> {
    const steps: string[] = [];
    await explained(call, database, async (strings, ...values) => {
      const explain = before('EXPLAIN QUERY PLAN', strings);
      const rows = await beside.sql<{ detail: string }>(explain, ...values);
      steps.push(...rows.map(({ detail }) => detail));
      return [];
    });
    return steps;
  }

  /** Steps that take the longer the more there is; owners, tokens and keys are few, and a page has fifty rows. */
  const LONG =
    /^SCAN (?!owners|tokens|instance_keys|link_keys|page\b|given\b|CONSTANT ROW)|AUTOMATIC/;
  const slow = async (call: Call) => (await plan(call)).filter((step) => LONG.test(step));

  test('no statement looks through all there is', async () => {
    const {
      'owners.listOwners': ofOwners,
      'owners.insertOwner': checks,
      ...found
    } = await inAll(slow);
    expect(ofOwners).toEqual([expect.stringContaining('tokens')]);
    // Of its foreign keys, which it does only while some are broken (OP_FkIfZero): never.
    expect(checks).toEqual(['SCAN pushes']);
    expect(found).toEqual({});
    // Such statements are found.
    expect(await slow(byKind)).toEqual(['SCAN audit']);
    expect(await slow(inOrder)).toEqual(['SCAN pushes']);
  });

  // Sorted are the page itself, of fifty rows, and what is due by time.
  test.each([
    ['active pushes', 'push', false, 'pushes_active', 1],
    ['expired ones', 'push', true, 'pushes_expired', 2],
    ...(['request', 'open', 'ready'] as const).map(
      (listed) => [`requests (${listed})`, listed, false, 'requests_active', 1] as const,
    ),
    ['closed ones', 'request', true, 'requests_closed', 2],
  ] as const)('a page of %s is found in an index alone, in its order', async (...row) => {
    const [, listed, ended, index, sorted] = row;
    const steps = (await plan(listing(listed, ended))).join('\n');
    expect(steps).toContain(`SEARCH pushes USING COVERING INDEX ${index} (owner_id=?)`);
    expect(steps.match(/TEMP B-TREE/g)).toHaveLength(sorted);
    if (listed === 'push' && ended)
      expect(steps).toContain('SEARCH pushes USING INDEX pushes_by_end (expires_at<?)');
  });

  test('a page of an audit log in order', async () => {
    expect(await plan(calls['audit.listEvents'] as Call)).toEqual([
      'SEARCH audit USING INDEX audit_by_push (push_id=?)',
    ]);
  });
});

onSharedPostgres((databases) => {
  let database: Database;

  beforeEach(async () => {
    database = await openBeside(databases().url(await databases().createDatabase()));
    await migrate(database);
    // Of many rows, as the planner takes the shortest way for as many as there are.
    for (const text of rows) await database.sql(plain(text));
    return () => database.close();
  });

  /** Scans that no condition narrows: of a table, or of a whole index. */
  async function slow(call: Call): Promise<string[]> {
    const scans: string[] = [];
    await explained(call, database, async (strings, ...values) => {
      const [text, given] = isRowStatement(strings)
        ? [strings.ofMany, arraysOf([values])]
        : [strings, values];
      const explain = before('EXPLAIN (FORMAT JSON)', text);
      const [row] = await database.sql<{ 'QUERY PLAN': [{ Plan: Step }] }>(explain, ...given);
      scans.push(...unbounded((row as { 'QUERY PLAN': [{ Plan: Step }] })['QUERY PLAN'][0].Plan));
      return [];
    });
    return scans;
  }

  test('no statement looks through all there is', async () => {
    expect(await inAll(slow)).toEqual({});
    // Such statements are found.
    expect(await slow(byKind)).toEqual(['Seq Scan audit']);
    expect(await slow(inOrder)).toEqual(['Seq Scan pushes']);
  });
});

interface Step {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Step[];
}

function unbounded(step: Step): string[] {
  const { 'Node Type': type, 'Relation Name': table = '', 'Index Cond': condition } = step;
  const scan = type === 'Seq Scan' || (type.includes('Index') && condition === undefined);
  const few = ['owners', 'tokens', 'instance_keys', 'link_keys'].includes(table);
  return [
    ...(scan && !few ? [`${type} ${table}`] : []),
    ...(step.Plans ?? []).flatMap((inner) => unbounded(inner)),
  ];
}

/** 20,000 pushes with all that may belong to one, a tenth of them active, of ten owners and nobody. */
const many = 'generate_series(101, 20100) AS n';
const at = 1_780_000_000_000;
const rows = [
  `INSERT INTO owners (name, created_at) SELECT 'owner ' || n, 0 FROM generate_series(1, 10) AS n`,
  `INSERT INTO pushes (id, lookup, sealed_token, link_key, owner_id, kind, name, expire_after_days, expire_after_views, views,
     deletable_by_viewer, retrieval_step, protected, deleted, created_at, updated_at, expires_at, expired_at)
   SELECT n, 'push ' || n, '', 1, NULLIF(n % 11, 0), 'text', '', 7, 5, 0, 1, 0, 0, 0, n, n, ${at * 2},
     CASE WHEN n % 10 > 0 THEN n END FROM ${many}`,
  `INSERT INTO instance_keys (id) VALUES ('usual')`,
  `INSERT INTO secrets (push_id, data_key, key_id) SELECT n, '', 'usual' FROM ${many}`,
  `INSERT INTO audit (push_id, kind, created_at) SELECT n, 'creation', n FROM ${many}`,
  `INSERT INTO tries (push_id, whose, tried_at) SELECT n, 'others', ${at * 2} FROM ${many}`,
  `INSERT INTO uploads (id, push_id, touched_at) SELECT n, CASE WHEN n % 10 > 0 THEN n END, ${at * 2}
   FROM ${many}`,
  `INSERT INTO files (upload_id, position, header) SELECT n, 0, '' FROM ${many}`,
  `INSERT INTO chunks (upload_id, position, number, sealed) SELECT n, 0, 0, '' FROM ${many}`,
  'ANALYZE',
];

import { ServiceRefusal } from '../service-errors';
import { type Member, nextRound, settle } from './group-commit';
import { RolledBack } from './pg-transaction';
import { isRowStatement, plain, type RowStatement, type Sql, type Value } from './sql';

export interface PgTerms {
  /** Members with the same key run one after the other. */
  readonly key: string;
  /** Time at which the member is given up (`performance.now`). */
  readonly until: number;
}

type PgMember = Member & PgTerms;

/** A group waits only 100 ms for a locked row; after that, its members are retried alone. */
const brief = plain('SET LOCAL lock_timeout = 100');

/** Thrown when a member failed, so that nothing of its group was committed. */
export class GroupFailed extends Error {}

/**
 * Commits the members in one transaction. If it fails, nothing is committed: members that a rule refuses
 * (`ServiceRefusal`) are rejected, and the others run again, alone if the database failed one of them.
 * @param transact runs work in a transaction, for at most `left` milliseconds
 */
export async function commitTogether(
  members: PgMember[],
  transact: (work: (sql: Sql) => Promise<void>, left: number) => Promise<void>,
): Promise<void> {
  if (members.length === 0) return;
  // All processes lock rows in this order, so that no two groups wait for each other.
  members.sort((a, b) => (a.key < b.key ? -1 : 1));
  const left = Math.min(...members.map(({ until }) => until)) - performance.now();
  let outcomes: PromiseSettledResult<unknown>[] = [];
  const work = async (sql: Sql) => {
    // The error is ignored, because each later statement of the transaction then fails, too.
    const patience = sql(brief).catch(() => undefined);
    [outcomes] = await Promise.all([together(members, sql), patience]);
    if (outcomes.some(isRejected)) throw new GroupFailed();
  };
  try {
    await transact(work, left);
    settle(members, outcomes);
  } catch (error) {
    const failures = members.map((member, index) => {
      const { reason } = (outcomes[index] ?? {}) as Partial<PromiseRejectedResult>;
      return { ...member, reason };
    });
    const others = failures.filter(({ reason, reject }) => {
      if (reason instanceof ServiceRefusal) reject(reason);
      return !(reason instanceof ServiceRefusal);
    });
    const hasFailed = others.some(({ reason }) => reason !== undefined);
    const isOfGroup = error instanceof GroupFailed;
    if (isOfGroup && !hasFailed) return commitTogether(others, transact);
    for (const { reject, reason } of others)
      reject(isOfGroup ? new RolledBack('', { cause: reason ?? error }) : error);
  }
}

/** Runs the members on one connection; returns their outcomes in order after all their statements were sent. */
async function together(members: readonly PgMember[], sql: Sql) {
  const shared = merging(sql);
  const last = new Map<string, Promise<unknown>>();
  const results = members.map(({ key, work }) => {
    const result = Promise.resolve(last.get(key)).then(() => work(shared));
    last.set(
      key,
      result.catch(() => undefined),
    );
    return result;
  });
  const outcomes = await Promise.allSettled(results);
  // After a member fails, `merging` may send other statements of it in the next round only.
  if (outcomes.some(isRejected)) await nextRound();
  return outcomes;
}

function isRejected(outcome: PromiseSettledResult<unknown>): outcome is PromiseRejectedResult {
  return outcome.status === 'rejected';
}

interface Call extends Pick<Member, 'reject'> {
  readonly values: Value[];
  readonly resolve: (rows: never[]) => void;
}

/** Runs a `RowStatement` once for all its calls in the same round of the event loop. */
export function merging(sql: Sql): Sql {
  const waiting = new Map<RowStatement, Call[]>();
  const send = () => {
    for (const [statement, calls] of waiting)
      runForAll(sql, statement, calls).catch((error: unknown) => {
        for (const { reject } of calls) reject(error);
      });
    waiting.clear();
  };
  return (strings, ...values) => {
    if (!isRowStatement(strings) || values.some(isLarge)) return sql(strings, ...values);
    return new Promise((resolve, reject) => {
      if (waiting.size === 0) setImmediate(send);
      const calls = waiting.get(strings) ?? [];
      waiting.set(strings, calls);
      calls.push({ values, resolve, reject });
    });
  };
}

/** Values of more bytes are not merged, because a statement has all its values in memory several times. */
const LARGE = 16 * 1024;
const isLarge = (value: Value) => value instanceof Uint8Array && value.length > LARGE;

async function runForAll(sql: Sql, statement: RowStatement, calls: readonly Call[]): Promise<void> {
  const { by } = statement;
  const rows = await sql<Record<string, Value>>(
    statement.ofMany,
    ...arraysOf(calls.map(({ values }) => values)),
  );
  const byValue = new Map(rows.map((row) => [row[by ?? ''], row]));
  for (const { values, resolve } of calls) {
    const row = byValue.get(values[0] as Value);
    resolve(row === undefined ? [] : [row as never]);
  }
}

/** Returns each column of the rows as the text of an array (PostgreSQL manual, Array Input and Output Syntax). */
export function arraysOf(rows: readonly Value[][]): string[] {
  const [first = []] = rows;
  return first.map((_, column) => `{${rows.map((row) => element(row[column] ?? null)).join()}}`);
}

function element(value: Value): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return `${value}`;
  if (typeof value === 'string') return `"${value.replace(/["\\]/g, '\\$&')}"`;
  return `"\\\\x${Buffer.from(value.buffer, value.byteOffset, value.length).toString('hex')}"`;
}

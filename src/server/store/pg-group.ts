import { nextRound } from './group-commit';
import { isRowStatement, type RowStatement, type Sql, type Value } from './sql';

/** A transaction that shares one with others. */
export interface Member {
  /** Members with the same key run one after the other. */
  readonly key: string;
  readonly work: (sql: Sql) => Promise<unknown>;
  /** When it is given up (`performance.now`). */
  readonly until: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** The most transactions in one. */
const MOST = 64;

/** Groups at once: while one waits for the disk, the next one is read and checked. */
const GROUPS = 2;

/**
 * Gathers members while `GROUPS` groups run. `run` commits one transaction for them, settles none before that, and never rejects.
 */
export function gathering(run: (members: Member[]) => Promise<void>): (member: Member) => void {
  const waiting: Member[] = [];
  let running = 0;
  const next = () => {
    if (running === GROUPS || waiting.length === 0) return;
    running += 1;
    // First let the event loop read the requests that have already arrived.
    setImmediate(async () => {
      // In this order all processes lock rows, so that no two groups wait for each other.
      await run(waiting.splice(0, MOST).sort((a, b) => (a.key < b.key ? -1 : 1)));
      running -= 1;
      next();
    });
  };
  return (member) => {
    waiting.push(member);
    next();
  };
}

/** Runs the members on one connection and returns their outcomes in order, with all their statements sent. */
export async function together(members: readonly Member[], sql: Sql) {
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
  // When a statement of a member failed, its others may wait for the next round to be sent.
  if (outcomes.some(isRejected)) await nextRound();
  return outcomes;
}

export function isRejected(
  outcome: PromiseSettledResult<unknown>,
): outcome is PromiseRejectedResult {
  return outcome.status === 'rejected';
}

interface Call extends Pick<Member, 'reject'> {
  readonly values: Value[];
  readonly resolve: (rows: never[]) => void;
}

/** Runs a `RowStatement` once for all who ask for it in the same round of the event loop. */
export function merging(sql: Sql): Sql {
  const asked = new Map<RowStatement, Call[]>();
  const ask = () => {
    for (const [statement, calls] of asked) void askFor(sql, statement, calls);
    asked.clear();
  };
  return (strings, ...values) => {
    if (!isRowStatement(strings) || values.some(isLarge)) return sql(strings, ...values);
    return new Promise((resolve, reject) => {
      if (asked.size === 0) setImmediate(ask);
      const calls = asked.get(strings) ?? [];
      asked.set(strings, calls);
      calls.push({ values, resolve, reject });
    });
  };
}

/** Bytes of a value that is not merged: a statement has all its values in memory, several times. */
const LARGE = 16 * 1024;
const isLarge = (value: Value) => value instanceof Uint8Array && value.length > LARGE;

async function askFor(sql: Sql, statement: RowStatement, calls: readonly Call[]): Promise<void> {
  const { by } = statement;
  try {
    const rows = await sql<Record<string, Value>>(
      statement.ofMany,
      ...arraysOf(calls.map(({ values }) => values)),
    );
    const found = new Map(rows.map((row) => [row[by ?? ''], row]));
    for (const { values, resolve } of calls) {
      const row = found.get(values[0] as Value);
      resolve(row === undefined ? [] : [row as never]);
    }
  } catch (error) {
    for (const { reject } of calls) reject(error);
  }
}

/** The columns of rows, each as the text of an array (PostgreSQL manual, Array Input and Output Syntax). */
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

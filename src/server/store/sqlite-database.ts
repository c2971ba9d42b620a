import { setTimeout as wait } from 'node:timers/promises';
import { lazy } from '../../contract/lazy';
import { createQueue, type Queue } from '../queues';
import { away, busy, full, inUse, ServiceRefusal } from '../service-errors';
import { gathering, type Member, nextRound, settle } from './group-commit';
import {
  checking,
  type Database,
  isDamaged,
  isDiskFailure,
  isFull,
  isRead,
  type Sql,
  sqlCode,
  type Value,
} from './sql';
import {
  catalog,
  checkpoint,
  isAlone,
  type Locking,
  type OpenFiles,
  pragma,
  prepared,
  type SqliteConnection,
  type Statements,
} from './sqlite-driver';
import { PAGE, type Storage } from './sqlite-space';

/**
 * A column of 4100 bytes that moves the keys of a row to overflow pages. When SQLite moves a row to another b-tree
 * page, a copy stays in the gap between cells, which `secure_delete` does not overwrite. Overflow pages are never
 * moved, and are overwritten when freed; at most 4061 bytes of a row are in b-tree pages of 4096 bytes. The column
 * costs 4.5 kB of disk per active push, and 0.03 ms when the push is created, a hundredth of the sync.
 */
const filler = ' filler BLOB DEFAULT (zeroblob(4100)),';

/** @param files of the database, which is in memory without */
export function overConnection(
  connection: SqliteConnection,
  space: Storage,
  sleep?: Sleep,
  files?: OpenFiles,
): Database {
  const failure = new FileFailure();
  const statements = prepared(connection);
  const queue = createQueue();
  const refuse = () => {
    if (failure.damage !== undefined) throw failure.damage;
    onDisk(() => files?.refuse(connection));
  };
  const commit = groupCommit(statements, queue, refuse);
  const transaction = transacting(
    (work, alone) => failure.noted(commit(work, alone)),
    (frees) =>
      queue(async () => {
        if (frees) space.release();
        // Frees the space in the write-ahead log that the rolled-back transaction has used.
        checkpoint(connection, refuse);
      }),
    sleep,
  );
  const read: Sql = <R>(strings: TemplateStringsArray, ...values: Value[]) => {
    const attempt = () =>
      orLocked(async () => {
        onDisk(() => files?.refuseOverwritten(connection));
        return statements.run<R>(strings, ...values);
      });
    return failure.noted(retryWhileLocked(() => queue(attempt), sleep));
  };
  const check = checking({ sql: read, transaction }, async () => {
    if (onDisk(() => space.isFull())) throw full(Object.assign(new Error(), { code: 'ENOSPC' }));
  });
  const own = upkeep({ connection, files, refuse }, statements, queue, space);
  return {
    dialect: { blob: 'BLOB', identity: 'INTEGER PRIMARY KEY AUTOINCREMENT', filler },
    catalog,
    sql: <R>(strings: TemplateStringsArray, ...values: Value[]) =>
      // Without a transaction, a write that does not get the lock would stay unfinished, and with libsql (0.5.29)
      // nothing could be committed until its statement is garbage-collected.
      isRead(strings) === false
        ? transaction((sql) => sql<R>(strings, ...values))
        : read<R>(strings, ...values),
    transaction,
    async check() {
      await queue(async () => {
        refuse();
        // SQLite reads the file only when its cache is dropped.
        pragma(connection, 'shrink_memory');
      });
      return check();
    },
    // BEGIN IMMEDIATE makes every transaction exclusive.
    exclusively: (work) => transaction(work),
    async solely(work) {
      if (!(await own.alone('EXCLUSIVE'))) throw inUse();
      return transaction(work).finally(() => own.alone());
    },
    ...own,
  };
}

interface Opened {
  readonly connection: SqliteConnection;
  readonly files: OpenFiles | undefined;
  /** Throws when nothing may be written. */
  readonly refuse: () => void;
}

function upkeep(
  { connection, files, refuse }: Opened,
  statements: ReturnType<typeof prepared>,
  queue: Queue,
  space: Storage,
) {
  let scrubbing: Promise<boolean> | undefined;
  const alone = (locking?: Locking) =>
    queue(async () => {
      refuse();
      const alone = isAlone(connection, locking);
      // The sole connection has made a new log.
      onDisk(() => files?.remember(connection));
      return alone;
    });
  return {
    alone,
    scrub() {
      // A checkpoint costs as much as four commits, so calls share one until it starts. Two rounds of the event loop
      // let transactions commit first that arrived during the last commit.
      scrubbing ??= nextRound()
        .then(nextRound)
        .then(() =>
          queue(async () => {
            scrubbing = undefined;
            return checkpoint(connection, refuse);
          }),
        );
      return scrubbing;
    },
    others: async () => ((await alone()) ? ('none' as const) : ('some' as const)),
    time: async () => undefined,
    space: async () => onDisk(() => ({ free: space.free(), size: space.size() })),
    unused: () => queue(async () => Number(pragma(connection, 'freelist_count')) * PAGE),
    setAside: async () => onDisk(() => space.reserve()),
    // `node:sqlite`, unlike libsql, throws when it is closed twice.
    close: lazy(async () => {
      // Lets the current group commit first.
      await nextRound();
      await queue(async () => {
        checkpoint(connection, () => files?.refuse(connection));
        statements.forget();
        (files ?? connection).close(connection);
      });
    }),
  };
}

/** Refuses with `away`, as the database does, when its folder was moved or unmounted, or its disk fails. */
function onDisk<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof ServiceRefusal ? error : away(error);
  }
}

class FileFailure {
  /** Once pages were found to be damaged, nothing is written until the service is started again. */
  damage: unknown;

  /** @throws ServiceRefusal (away) when the file is damaged or its disk fails */
  async noted<R>(work: Promise<R>): Promise<R> {
    try {
      return await work;
    } catch (error) {
      if (!isDamaged(error) && !isDiskFailure(error)) throw error;
      const refusal = error instanceof ServiceRefusal ? error : away(error);
      if (isDamaged(error)) this.damage = refusal;
      throw refusal;
    }
  }
}

/**
 * Runs `work` in a transaction, which other work shares unless `alone`.
 * @throws Locked when another connection has the lock
 */
type Commit = <T>(work: (sql: Sql) => Promise<T>, alone?: boolean) => Promise<T>;

/** Makes transactions that are retried while the database is locked, and once on a full disk if they free space. */
function transacting(
  commit: Commit,
  makeRoom: (frees: boolean) => Promise<void>,
  sleep?: Sleep,
): Database['transaction'] {
  return async (work, { frees = false } = {}) => {
    const attempt = (alone: boolean) => retryWhileLocked(() => commit(work, alone), sleep);
    try {
      return await attempt(false).catch(async (error: unknown) => {
        if (!isFull(error)) throw error;
        await makeRoom(frees);
        if (!frees) throw error;
        return attempt(true);
      });
    } catch (error) {
      throw isFull(error) ? full(error) : error;
    }
  };
}

/**
 * Commits groups one after the other. Each member has a savepoint, so that a failing member undoes only itself.
 * @param check throws when nothing may be written
 */
export function groupCommit(statements: Statements, queue: Queue, check = () => {}): Commit {
  const commit = (members: readonly Member[]) => commitTogether(statements, members, check);
  const joined = gathering(queue, commit);
  return (work, alone = false) => (alone ? gathering(queue, commit) : joined)(work, {});
}

/**
 * IMMEDIATE takes the write lock before anything is read, so that no two processes decide on the same row, and a
 * transaction that does not get the lock has done nothing.
 */
async function commitTogether(
  statements: Statements,
  members: readonly Member[],
  check: () => void,
): Promise<void> {
  const { exec, run } = statements;
  const outcomes: PromiseSettledResult<unknown>[] = [];
  try {
    check();
    await orLocked(async () => exec('BEGIN IMMEDIATE'));
    for (const { work } of members) {
      // A single member needs no savepoint, which would keep the old content of all changed pages in memory.
      if (members.length > 1) outcomes.push(await inSavepoint(statements, work));
      else outcomes.push({ status: 'fulfilled', value: await work(run) });
    }
    exec('COMMIT');
  } catch (error) {
    undo(statements, 'ROLLBACK');
    throw error;
  }
  settle(members, outcomes);
}

/** Runs a member's work. Rejects when SQLite has rolled back the whole group. */
async function inSavepoint(
  statements: Statements,
  work: Member['work'],
): Promise<PromiseSettledResult<unknown>> {
  statements.exec('SAVEPOINT member');
  try {
    const value = await work(statements.run);
    statements.exec('RELEASE member');
    return { status: 'fulfilled', value };
  } catch (reason) {
    // After some errors, such as a full disk, SQLite rolls back the whole transaction with its savepoints.
    if (!undo(statements, 'ROLLBACK TO member; RELEASE member')) throw reason;
    return { status: 'rejected', reason };
  }
}

/** Returns false when there was nothing to undo. */
function undo(statements: Statements, text: string): boolean {
  try {
    statements.exec(text);
    return true;
  } catch {
    return false;
  }
}

export type Sleep = (milliseconds: number) => Promise<unknown>;

/** Total milliseconds of waiting, and the longest pause between two attempts. */
const BUSY_TIMEOUT = 5000;
const LONGEST_PAUSE = 25;

class Locked extends Error {}

/**
 * Retries `attempt` while another connection has the database locked (`orLocked`).
 * @throws ServiceRefusal (busy) after 5 s
 */
async function retryWhileLocked<T>(attempt: () => Promise<T>, sleep: Sleep = wait) {
  let waited = 0;
  for (let pause = 5; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Locked)) throw error;
      if (waited >= BUSY_TIMEOUT)
        throw busy('The database is in use by another program. Try again later.', error.cause);
    }
    await sleep(pause);
    waited += pause;
  }
}

/** @throws Locked when another connection has the lock, so that `retryWhileLocked` tries again */
async function orLocked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw /^SQLITE_BUSY/.test(sqlCode(error)) ? new Locked('', { cause: error }) : error;
  }
}

import { setTimeout as wait } from 'node:timers/promises';
import type { Queue } from '../queues';
import { busy } from '../service-errors';
import { sqlCode } from './sql';
import type { SqliteConnection } from './sqlite-driver';

type Executor = Pick<SqliteConnection, 'exec'>;

interface Member {
  readonly work: () => Promise<unknown>;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs `work` in a transaction, shared with others unless it is to be `alone`. Rejects as `orLocked` does. */
type Commit = <T>(work: () => Promise<T>, alone?: boolean) => Promise<T>;

/**
 * Group commit: concurrent transactions share one transaction of SQLite, and so one sync to disk, which takes longer
 * than all their work. Each has a savepoint, so that one that fails undoes only itself; none resolves before the shared
 * commit. Those that arrive meanwhile form the next group.
 * @param check throws when nothing may be written
 */
export function groupCommit(connection: Executor, queue: Queue, check = () => {}): Commit {
  let waiting: Member[] | undefined;

  function gather(): Member[] {
    const members: Member[] = [];
    // First let the event loop read the requests that have already arrived.
    void nextRound().then(() =>
      queue(() => {
        waiting = undefined;
        return commit(connection, members, check);
      }),
    );
    return members;
  }

  return <T>(work: () => Promise<T>, byItself = false) =>
    new Promise<T>((resolve, reject) => {
      const member = { work, resolve, reject };
      if (byItself) return void queue(() => commit(connection, [member], check));
      waiting ??= gather();
      waiting.push(member);
    });
}

/**
 * IMMEDIATE takes the write lock before anything is read, so that no two processes decide on the same row, and a
 * transaction that does not get the lock has done nothing.
 */
async function commit(
  connection: Executor,
  members: readonly Member[],
  check: () => void,
): Promise<void> {
  const settle: (() => void)[] = [];
  try {
    check();
    await orLocked(async () => connection.exec('BEGIN IMMEDIATE'));
    const attempt = members.length === 1 ? alone : inSavepoint(connection);
    for (const member of members) settle.push(await attempt(member));
    connection.exec('COMMIT');
  } catch (error) {
    undo(connection, 'ROLLBACK');
    for (const { reject } of members) reject(error);
    return;
  }
  for (const one of settle) one();
}

/** Runs a member's work and returns how to settle it. Rejects when the whole group has failed. */
type Attempt = (member: Member) => Promise<() => void>;

/** A member that is alone has no savepoint, which would keep the old content of all changed pages in memory. */
const alone: Attempt = async ({ work, resolve }) => {
  const result = await work();
  return () => resolve(result as never);
};

function inSavepoint(connection: Executor): Attempt {
  return async ({ work, resolve, reject }) => {
    connection.exec('SAVEPOINT member');
    try {
      const result = await work();
      connection.exec('RELEASE member');
      return () => resolve(result as never);
    } catch (error) {
      // A full disk, for one, rolls back the whole transaction and with it the savepoint.
      if (!undo(connection, 'ROLLBACK TO member; RELEASE member')) throw error;
      return () => reject(error);
    }
  };
}

/** Returns false when there was nothing to undo. */
function undo(connection: Executor, how: string): boolean {
  try {
    connection.exec(how);
    return true;
  } catch {
    return false;
  }
}

export function nextRound(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
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
export async function retryWhileLocked<T>(attempt: () => Promise<T>, sleep: Sleep = wait) {
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

/** Marks errors of `work` that mean that another connection has the lock, for `retryWhileLocked`. */
export async function orLocked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw /^SQLITE_BUSY/.test(sqlCode(error)) ? new Locked('', { cause: error }) : error;
  }
}

import { orLocked } from './busy-retry';
import { inTurn } from './one-at-a-time';

/** What a transaction needs of a connection. */
export interface Connection {
  exec(sql: string): void;
}

interface Member {
  readonly work: () => Promise<unknown>;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs `work` in a transaction, shared with others unless it is to be `alone`. Rejects as `orLocked` does. */
export type Commit = <T>(work: () => Promise<T>, alone?: boolean) => Promise<T>;

/**
 * Group commit: transactions that come in together share one of SQLite's, and so the one wait for the disk, which
 * takes longer than all their work. Each has a savepoint of its own, so one that fails undoes itself only; none is
 * answered before the commit they share. What comes in meanwhile makes the next group.
 */
export function groupCommit(connection: Connection): Commit {
  let waiting: Member[] | undefined;

  function gather(): Member[] {
    const members: Member[] = [];
    // Whatever else came in this round of the event loop is read from its socket first.
    void nextRound().then(() =>
      inTurn(() => {
        waiting = undefined;
        return commit(connection, members);
      }),
    );
    return members;
  }

  return <T>(work: () => Promise<T>, byItself = false) =>
    new Promise<T>((resolve, reject) => {
      const member = { work, resolve, reject };
      if (byItself) return void inTurn(() => commit(connection, [member]));
      waiting ??= gather();
      waiting.push(member);
    });
}

/**
 * IMMEDIATE takes the write lock before anything is read, so no two processes decide on the same row, and nothing
 * was done where it was not to be had.
 */
async function commit(connection: Connection, members: readonly Member[]): Promise<void> {
  const answers: (() => void)[] = [];
  try {
    await orLocked(async () => connection.exec('BEGIN IMMEDIATE'));
    const attempt = members.length === 1 ? alone : within(connection);
    for (const member of members) answers.push(await attempt(member));
    connection.exec('COMMIT');
  } catch (error) {
    undo(connection, 'ROLLBACK');
    for (const { reject } of members) reject(error);
    return;
  }
  for (const answer of answers) answer();
}

/** Runs a member's work; answers how to tell the outcome. Throws when all of the group has failed. */
type Attempt = (member: Member) => Promise<() => void>;

/** Without a savepoint, which keeps all pages as they were in memory. */
const alone: Attempt = async ({ work, resolve }) => {
  const result = await work();
  return () => resolve(result as never);
};

function within(connection: Connection): Attempt {
  return async ({ work, resolve, reject }) => {
    connection.exec('SAVEPOINT member');
    try {
      const result = await work();
      connection.exec('RELEASE member');
      return () => resolve(result as never);
    } catch (error) {
      // A full disk, for one, undoes more than the member's own.
      if (!undo(connection, 'ROLLBACK TO member; RELEASE member')) throw error;
      return () => reject(error);
    }
  };
}

/** Whether there was anything left to undo. */
function undo(connection: Connection, how: string): boolean {
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

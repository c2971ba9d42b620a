import { orLocked } from './patience';
import { inTurn } from './turns';

/** What a transaction needs of a connection. */
export interface Connection {
  exec(sql: string): void;
}

interface Member {
  readonly work: () => Promise<unknown>;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs `work` in a transaction; alone in it when it is `long`. Rejects as `orLocked` does. */
export type Commit = <T>(work: () => Promise<T>, long?: boolean) => Promise<T>;

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

  return <T>(work: () => Promise<T>, long = false) =>
    new Promise<T>((resolve, reject) => {
      const member = { work, resolve, reject };
      if (long) return void inTurn(() => commit(connection, [member]));
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
    for (const member of members) answers.push(await attempt(connection, member));
    connection.exec('COMMIT');
  } catch (error) {
    undo(connection, 'ROLLBACK');
    for (const { reject } of members) reject(error);
    return;
  }
  for (const answer of answers) answer();
}

/** Answers how to tell the outcome. Throws when it undid more than its own: a full disk, for one, undoes all. */
async function attempt(connection: Connection, member: Member): Promise<() => void> {
  connection.exec('SAVEPOINT member');
  try {
    const result = await member.work();
    connection.exec('RELEASE member');
    return () => member.resolve(result as never);
  } catch (error) {
    if (!undo(connection, 'ROLLBACK TO member; RELEASE member')) throw error;
    return () => member.reject(error);
  }
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

import type { Queue } from '../queues';
import type { Sql } from './sql';

/** The work of one caller, which shares a transaction with the work of others. */
export interface Member {
  readonly work: (sql: Sql) => Promise<unknown>;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs `work` in a transaction that other work may share. `terms` are what a store adds to a `Member`. */
type Join<Terms> = <T>(work: (sql: Sql) => Promise<T>, terms: Terms) => Promise<T>;

/**
 * Group commit: concurrent transactions share one, and so one sync to disk, which takes longer than all their work.
 * Transactions that arrive before the turn of a group join it.
 * @param turn calls its argument, which commits a group, when there is room for a group
 * @param commit runs the work of all members in one transaction and then settles each (`settle`); if it rejects, so do they
 * @param most members of a group
 */
export function gathering<Terms extends object>(
  turn: Queue,
  commit: (members: (Member & Terms)[]) => Promise<void>,
  most = Number.POSITIVE_INFINITY,
): Join<Terms> {
  const waiting: (Member & Terms)[] = [];
  const begin = () => {
    let members: (Member & Terms)[] = [];
    const group = turn(() => {
      members = waiting.splice(0, most);
      if (waiting.length > 0) begin();
      return commit(members);
    });
    group.catch((error: unknown) => {
      for (const { reject } of members) reject(error);
    });
  };
  return (work, terms) =>
    new Promise((resolve, reject) => {
      const isFirst = waiting.push({ ...terms, work, resolve, reject }) === 1;
      // The event loop first reads the HTTP requests that have already arrived.
      if (isFirst) setImmediate(begin);
    });
}

/** Settles members by their outcomes. Must follow the commit: no response may report what was not committed. */
export function settle(
  members: readonly Member[],
  outcomes: readonly PromiseSettledResult<unknown>[],
): void {
  for (const [index, { resolve, reject }] of members.entries()) {
    const outcome = outcomes[index];
    if (outcome?.status === 'fulfilled') resolve(outcome.value as never);
    else reject(outcome?.reason);
  }
}

export function nextRound(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs `work` after all that was handed in before it has ended. One line for the whole program: SQLite blocks
 * the thread anyway, and two connections that took turns inside a transaction would wait for each other's lock.
 */
export function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const result = last.then(work);
  last = result.catch(() => undefined);
  return result;
}

import { setTimeout as wait } from 'node:timers/promises';
import { busy } from '../refusal';

/** Waits for that many milliseconds. */
export type Sleep = (milliseconds: number) => Promise<unknown>;

const AT_MOST = 5000;
const LONGEST = 25;

class Locked extends Error {}

/** Does `attempt` until no other program has the database locked. Throws a `Refusal` when one has it for 5 s. */
export async function patiently<T>(attempt: () => Promise<T>, sleep: Sleep = wait): Promise<T> {
  let waited = 0;
  for (let pause = 5; ; pause = Math.min(2 * pause, LONGEST)) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Locked)) throw error;
      if (waited >= AT_MOST)
        throw busy('The database is in use by another program. Try again later.');
    }
    await sleep(pause);
    waited += pause;
  }
}

/** Tells `patiently` that another program was in the way and nothing was done. */
export async function orLocked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isBusy(error) ? new Locked() : error;
  }
}

/** SQLITE_BUSY and its kind, as libsql and `node:sqlite` say it. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return (
    /^SQLITE_BUSY/.test(String(code)) || (typeof errcode === 'number' && (errcode & 0xff) === 5)
  );
}

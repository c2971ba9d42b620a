import { durationText } from '../contract/lifetime';
import { ServiceError } from './service-errors';
import type { ServiceIo } from './service-settings';
import type { Database } from './store/sql';

/** Milliseconds by which the clock of this machine may differ from that of the database server. */
const MOST = 5 * 60_000;

/** A later measurement that takes longer, in milliseconds, is not used. */
const SLOW = 1000;

export interface Clock {
  readonly now: () => Date;
  /**
   * Measures again how the clock of this machine differs. False, and the difference stays, if it is now more than five
   * minutes: nothing is to be destroyed by a clock that jumped.
   */
  set(): Promise<boolean>;
}

/**
 * The clock of a database, as one service compares times that another has stored: that of its server, or for SQLite that of this
 * machine, which all its processes share. The difference to the clock of this machine is measured at the start and at each sweep,
 * so that no request has to ask. Services are apart by half a round trip, and by what clocks drift in a minute.
 * @throws ServiceError when the clocks differ by more than five minutes
 */
export async function clockOf(
  database: Database,
  { now, serverNow }: Pick<ServiceIo, 'now' | 'serverNow'>,
  warn: (message: string) => void,
): Promise<Clock> {
  /** Milliseconds by which that of this machine is ahead; undefined if the server was slow to say. */
  const measure = async (slow: number) => {
    // A clock that is read at once: half of the time that this took would be no measurement.
    if (serverNow) return now().getTime() - serverNow().getTime();
    const began = performance.now();
    const time = await database.time();
    const took = performance.now() - began;
    if (time === undefined) return 0;
    return took <= slow ? Math.round(now().getTime() - took / 2 - time) : undefined;
  };
  let ahead = (await measure(Number.POSITIVE_INFINITY)) as number;
  let wasWrong = false;
  if (isWrong(ahead))
    throw new ServiceError(difference(ahead), {
      hint: 'set the clocks of both machines, best by NTP: they may differ by 5 minutes',
    });
  return {
    now: () => new Date(now().getTime() - ahead),
    async set() {
      const measured = (await measure(SLOW)) ?? ahead;
      if (isWrong(measured) && !wasWrong) warn(difference(measured));
      wasWrong = isWrong(measured);
      if (!wasWrong) ahead = measured;
      return !wasWrong;
    },
  };
}

const isWrong = (ahead: number) => Math.abs(ahead) > MOST;

function difference(ahead: number): string {
  const which = ahead > 0 ? 'ahead of' : 'behind';
  const time = durationText(Math.abs(ahead) / 1000);
  return `the clock of this machine is ${time} ${which} that of the database server`;
}

import { limits } from './api';

/** A service and its metrics listen at this address by default. */
export const HOST = '127.0.0.1';
export const PORT = 5100;

/** The limit of a client address is high, as jobs of a CI system may share one. Passphrase tries have their own. */
export const REQUESTS_PER_SECOND = 100;

/** A bound of a setting. A name stands for the value of the setting with that name. */
export type Limit = number | 'minDays' | 'maxDays' | 'maxViews';

/**
 * A whole number that an operator can set; sizes are in bytes. Its variable and check, and unless `help` is undefined
 * an option of `serve`, are made from this row and its name. The default of `preset` is the lower bound of `range`.
 */
const row = (
  unit: 'count' | 'days' | 'size',
  help: string | undefined,
  range: readonly [least: Limit, most?: Limit],
  preset?: number,
) => ({ unit, help, range, preset });

export type NumberSetting = ReturnType<typeof row>;

const MIB = 1024 ** 2;
const MOST_DAYS = 36_500;
const { days, views } = limits;

export const numbers = {
  defaultDays: row('days', 'days of a push by default', ['minDays', 'maxDays'], days.default),
  minDays: row('days', 'fewest days that a push can have (default: any time)', [1, 'maxDays']),
  maxDays: row('days', 'most days that a push can have', [days.min, MOST_DAYS], days.max),
  defaultViews: row('count', 'views of a push by default', [1, 'maxViews'], views.default),
  maxViews: row('count', 'most views that a push can have', [views.min, 1_000_000], views.max),
  maxFileSize: row('size', 'largest file: 500M, 1GiB', [1, 1024 ** 4], limits.bytesPerFile),
  // What follows is set by variables alone, as only operators of a service under load need it: pwpush-serve(1) has it.
  // The program takes another 100 MiB, so that the default fits a machine of 256 MiB. A quarter of the lower bound, the
  // share of one client, fits one JSON body.
  maxBuffer: row('size', undefined, [32 * MIB], 64 * MIB),
  // Each connection takes 10 to 20 KiB of memory.
  maxConnections: row('count', undefined, [16], 4096),
  // A phone with bad reception reads twenty times as fast as the default, which is for a minute.
  minRate: row('size', undefined, [0], 50_000),
  // At most 9000, as the API shows only the first 10,000 entries of an audit log.
  maxFailures: row('count', undefined, [1, 9000], 1000),
  // With 0, an expired push is still kept for the ten minutes in which its creation can be repeated (`LONGEST`).
  keepDays: row('days', undefined, [0, MOST_DAYS], 90),
  // New pushes are refused while less is free. With data in memory, the reserve is added to their limit.
  reserve: row('size', undefined, [0], 32 * MIB),
};

/** Returns `--max-days` for `maxDays`. */
export const optionName = (setting: string) =>
  `--${setting.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Returns `PWPUSH_SERVE_MAX_DAYS` for `--max-days`. */
export const variableName = (option: string) =>
  `PWPUSH_SERVE${option}`.replaceAll(/-+/g, '_').toUpperCase();

/** Returns the option of a setting, or else its variable. */
export function labelOf(name: keyof typeof numbers): string {
  const option = optionName(name);
  return numbers[name].help === undefined ? variableName(option) : option;
}

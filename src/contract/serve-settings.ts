import { limits } from './api';

/** It listens there by default; its metrics, too. */
export const HOST = '127.0.0.1';
export const PORT = 5100;

/** High, as all jobs of a CI system may share an address. Tries of passphrases are limited separately. */
export const REQUESTS_PER_SECOND = 100;

/** The least or the most of a number; a name stands for the value of that setting. */
export type Limit = number | 'minDays' | 'maxDays' | 'maxViews';

/**
 * A whole number that an operator sets; a size is in bytes. Its option of `serve`, its variable, its help and its check follow
 * from its name and this row.
 */
export interface NumberSetting {
  readonly unit: 'count' | 'days' | 'size';
  readonly help: string;
  readonly range: readonly [least: Limit, most?: Limit];
  /** By default the least. */
  readonly preset?: number | undefined;
}

const row = (
  unit: NumberSetting['unit'],
  help: string,
  range: NumberSetting['range'],
  preset?: number,
): NumberSetting => ({ unit, help, range, preset });

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
  // With the 100 MiB of the program, the default fits a machine of 256 MiB. A quarter of the least fits one JSON body.
  maxBuffer: row('size', 'memory for requests and responses', [32 * MIB], 64 * MIB),
  // A connection takes 10 to 20 KiB.
  maxConnections: row('count', 'open connections', [16], 4096),
  // A phone with bad reception reads twenty times as fast.
  minRate: row('size', 'slowest client, per minute; 0: any', [0], 50_000),
  // Of an audit log, 10,000 entries can be read.
  maxFailures: row('count', 'failures in the log of a push', [1, 9000], 1000),
  // With 0, an expired push stays for the ten minutes in which its requests can be repeated.
  keepDays: row('days', 'days to keep the log of expired pushes', [0, MOST_DAYS], 90),
  // With less, pushes are refused; in memory, it is added to the most data.
  reserve: row('size', 'free disk space to leave', [0], 32 * MIB),
};

/** The option of a setting: `--max-days` for `maxDays`. */
export const optionName = (setting: string) =>
  `--${setting.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

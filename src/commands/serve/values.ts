import type { Command } from 'commander';
import { usageError } from '../../errors';

/**
 * Has `serve` and its words refuse a value that is empty, as that of a shell's variable that is not set: without a host
 * it would listen on all there are, and without a certificate do without TLS.
 */
export function refuseEmpty(serve: Command): void {
  serve.hook('preAction', (_, word) => {
    for (const command of [serve, word]) {
      const empty = command.options.find((one) => command.opts()[one.attributeName()] === '');
      if (empty) throw usageError(`${empty.long} takes a value, and got an empty one`);
    }
  });
}

export type LogFormat = 'text' | 'json';

export function logFormat(value: string): LogFormat {
  if (value === 'text' || value === 'json') return value;
  throw usageError(`--log takes text or json, not "${value}"`);
}

/** So many requests in a second or a minute, or `off`. */
export function rate(value: string): 'off' | { requests: number; milliseconds: number } {
  if (value === 'off') return value;
  const [, count = '0', unit] = /^(\d{1,7})\/([sm])$/.exec(value) ?? [];
  if (Number(count) >= 1) {
    return { requests: Number(count), milliseconds: unit === 's' ? 1000 : 60_000 };
  }
  throw usageError(`--rate-limit takes a number such as 50/s or 600/m, or off, not "${value}"`);
}

/** Reads bytes for that option; K, M, G, T and KiB … count in 1024s, KB … in 1000s. */
export function size(option: string, least = 1): (value: string) => number {
  return (value) => {
    const [, digits = '', unit = '', suffix = ''] =
      /^(\d{1,13}(?:\.\d{1,3})?)([kmgt]?)(i?b)?$/i.exec(value.trim()) ?? [];
    const base = suffix.toLowerCase() === 'b' ? 1000 : 1024;
    const bytes = Number(digits) * base ** ' kmgt'.indexOf(unit.toLowerCase() || ' ');
    if (digits !== '' && bytes >= least && bytes <= 1024 ** 4) return Math.floor(bytes);
    throw usageError(`${option} takes a size such as 500M or 1GiB, not "${value}"`);
  };
}

/** A whole number of days, 0 included. */
export function days(value: string): number {
  if (/^\d{1,9}$/.test(value)) return Number(value);
  throw usageError(`--keep-days takes a whole number of days, not "${value}"`);
}

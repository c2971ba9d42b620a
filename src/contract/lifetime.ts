import type { NewPush, NewRequest } from './api';

/** `oss` takes the expiry of a push in days, `commercial` as an index of `durations`, `pwpush` in days or seconds. */
export type Edition = 'oss' | 'commercial' | 'pwpush';

export const DAY_SECONDS = 86_400;
export const DAY_MS = 1000 * DAY_SECONDS;

const units = { s: 1, m: 60, h: 3600, d: DAY_SECONDS, w: 604_800, mo: 2_592_000 } as const;

/** Seconds of each index of `expire_after_duration` and `close_after_duration` (docs/wire.md, "Durations"). */
export const durations: readonly number[] = [
  ...[15, 30, 45].map((count) => count * units.m),
  ...[1, 6, 12].map((count) => count * units.h),
  ...[1, 2, 3, 4, 5, 6, 7, 14, 21, 30, 60, 90].map((count) => count * units.d),
];

/** Returns the index of the longest duration within `seconds`; -1 for none. */
export function longestDuration(seconds: number): number {
  return durations.findLastIndex((duration) => duration <= seconds);
}

/** In seconds. */
export const shortestLifetime: Readonly<Record<Edition, number>> = {
  oss: units.d,
  commercial: 15 * units.m,
  pwpush: units.m,
};

/** `after` is in seconds from now, `at` in milliseconds since 1970; `local` if the text did not say the time zone. */
export type Expiry = { readonly after: number } | { readonly at: number; readonly local?: boolean };

/**
 * Parses a duration (`6h`, `1d12h`), a day (`2026-12-01`, meaning its last second) or a time (`2026-12-01T09:00`);
 * local unless it has a time zone, as `2026-12-01T09:00Z` (ISO 8601). Returns undefined for invalid text.
 */
export function parseExpiry(text: string): Expiry | undefined {
  const after = parseDuration(text);
  if (after) return { after };
  const [, day, clock = '23:59:59', zone = ''] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(
      text,
    ) ?? [];
  const at = Date.parse(`${day}T${clock}${zone}`);
  if (day === undefined || Number.isNaN(at)) return undefined;
  // Rejects days that do not exist, as `Date` takes 31 November for 1 December.
  if (!new Date(day).toISOString().startsWith(day)) return undefined;
  return zone === '' ? { at, local: true } : { at };
}

/** Matches a zone of one offset (POSIX, "TZ"), which is written as hours west of UTC. */
const POSIX_ZONE = /^:?(?:<[\w+-]{3,}>|[A-Za-z]{3,})([+-]?)(\d\d?)(?::(\d\d))?$/;

/**
 * Returns whether `Date` is in the zone that the variable TZ names: for a name that it does not know, and for rules as in
 * `CET-1CEST,M3.5.0,M10.5.0/3`, it takes another zone, and of a file without a name the offset of winter alone.
 * @param at milliseconds since 1970, as the offset of a zone changes
 */
export function isZoneKnown(TZ: string | undefined, at: number): boolean {
  if (!TZ) return true;
  const [, sign, hours, minutes = '0'] = POSIX_ZONE.exec(TZ) ?? [];
  const west = new Date(at).getTimezoneOffset();
  if (hours) return west === (60 * Number(hours) + Number(minutes)) * (sign === '-' ? -1 : 1);
  const name = TZ.replace(/^:?(?:\/.*\/zoneinfo\/)?(?:(?:posix|right)\/)?/, '');
  try {
    const zone = { timeZone: name, timeZoneName: 'longOffset' } as const;
    const [, offset = '+00:00'] =
      /GMT([+-]\d\d:\d\d)?/.exec(new Date(at).toLocaleString('en', zone)) ?? [];
    return new Date(at).toString().includes(`GMT${offset.replace(':', '')}`);
  } catch {
    return false;
  }
}

/** Formats a time in the local time zone: `1 Dec 2026, 23:59 (UTC+1)`. */
export function localTime(milliseconds: number): string {
  const time = new Date(milliseconds);
  // `Tue Dec 01 2026 23:59:59 GMT+0100 (…)`, in every language; Intl would take 20 ms.
  const [, month, day, year, clock = '', zone = ''] = time.toString().split(' ');
  const [, sign = '', hours, minutes] = /^GMT([+-])(\d\d)(\d\d)$/.exec(zone) ?? [];
  const part = minutes === '00' ? '' : `:${minutes}`;
  const offset = Number(hours) === 0 && part === '' ? '' : `${sign}${Number(hours)}${part}`;
  return `${Number(day)} ${month} ${year}, ${clock.slice(0, 5)} (UTC${offset})`;
}

/** Parses `45m`, `1h30m` or `2w` to seconds; a month (`mo`) has 30 days. Returns undefined for invalid text. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d{1,9}(mo|[smhdw]))+$/.test(text)) return undefined;
  const parts = text.matchAll(/(\d+)(mo|[smhdw])/g);
  let seconds = 0;
  for (const [, count, unit] of parts) seconds += Number(count) * units[unit as keyof typeof units];
  return seconds;
}

export type ExpiryFields = Pick<
  NewPush,
  'expire_after_days' | 'expire_after_duration' | 'expires_in'
>;
export type ClosingFields = Pick<NewRequest, 'close_after' | 'close_after_duration'>;
export type LifetimeFields = ExpiryFields & ClosingFields;

export type Fields = Readonly<Record<string, unknown>>;

/** Returns the field for a lifetime, rounded down to one that the edition has; undefined below its shortest one. */
export function expiryFields(seconds: number, edition: Edition): ExpiryFields | undefined {
  if (seconds < shortestLifetime[edition]) return undefined;
  if (edition === 'commercial') return { expire_after_duration: longestDuration(seconds) };
  if (edition === 'pwpush' && seconds % units.d !== 0) return { expires_in: seconds };
  return { expire_after_days: Math.floor(seconds / units.d) };
}

/**
 * Returns the seconds until a request closes, and for instances without `close_after` the longest index within
 * `seconds`.
 * @returns undefined if all durations are longer
 */
export function closingFields(seconds: number): ClosingFields | undefined {
  const index = longestDuration(seconds);
  return index === -1 ? undefined : { close_after: seconds, close_after_duration: index };
}

/** Returns seconds; undefined if no field is set, so that the instance uses its default. */
export function requestedLifetime(requested: LifetimeFields): number | undefined {
  const { expires_in, close_after, expire_after_days: days } = requested;
  return (
    expires_in ??
    close_after ??
    (days === undefined ? durations[requestedIndex(requested)] : days * units.d)
  );
}

function requestedIndex({ expire_after_duration, close_after_duration }: LifetimeFields): number {
  return expire_after_duration ?? close_after_duration ?? -1;
}

/** Returns the seconds between creation and expiry. Days come last, as an instance may return some that it ignored. */
export function grantedLifetime(granted: Fields): number | undefined {
  const { expire_after_days: days, created_at } = granted;
  const end = granted.expires_at ?? granted.close_after_at;
  const span = Date.parse(String(end)) - Date.parse(String(created_at));
  if (!Number.isNaN(span)) return withoutSkew(Math.round(span / 1000));
  const seconds = granted.expires_in ?? granted.close_after;
  if (Number.isInteger(seconds) && Number(seconds) > 0) return withoutSkew(Number(seconds));
  const index = granted.expire_after_duration ?? granted.close_after_duration;
  return (
    durations[typeof index === 'number' ? index : -1] ??
    (typeof days === 'number' ? days * units.d : undefined)
  );
}

/** Rounds to full minutes within 2 seconds, as an instance reads its clock once for creation and once for expiry. */
function withoutSkew(seconds: number): number {
  const minutes = Math.round(seconds / units.m) * units.m;
  return Math.abs(seconds - minutes) <= 2 ? minutes : seconds;
}

/** Returns lifetimes in seconds, as equal within a minute or `calendarSlack`; undefined if one of them is not known. */
export function comparedLifetimes(
  request: LifetimeFields,
  response: Fields,
): { readonly requested: number; readonly granted: number } | undefined {
  const requested = requestedLifetime(request);
  const granted = requested === undefined ? undefined : grantedLifetime(response);
  if (requested === undefined || granted === undefined) return undefined;
  const late = granted - requested;
  const same = Math.abs(late) < units.m || (late > 0 && late <= calendarSlack(request));
  return { requested, granted: same ? requested : granted };
}

/** Seconds that an instance may add by its calendar: a day for each month, an hour for daylight saving time. */
function calendarSlack(request: LifetimeFields): number {
  const requested = durations[requestedIndex(request)] ?? 0;
  const months = Math.floor(requested / units.mo);
  return requested < units.d ? 0 : months * units.d + units.h;
}

/** Returns `45 minutes` or `1 day 12 hours`. */
export function durationText(seconds: number): string {
  const words: string[] = [];
  let left = Math.round(seconds);
  for (const [code, name] of [
    ['d', 'day'],
    ['h', 'hour'],
    ['m', 'minute'],
    ['s', 'second'],
  ] as const) {
    const count = Math.floor(left / units[code]);
    left -= count * units[code];
    if (count > 0) words.push(`${count} ${name}${count === 1 ? '' : 's'}`);
  }
  return words.slice(0, 2).join(' ') || '0 seconds';
}

/**
 * Rounds milliseconds down to a whole number of the largest unit. Rounds up if less than one of the next smaller unit
 * is missing, so that a week that has just begun is 7 days.
 */
export function roundedTime(
  milliseconds: number,
): readonly [value: number, unit: 'second' | 'minute' | 'hour' | 'day'] {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1000));
  const minutes = Math.floor((seconds + units.s) / units.m);
  const hours = Math.floor((seconds + units.m) / units.h);
  if (seconds < units.m) return [seconds, 'second'];
  if (minutes < 120 && minutes !== 60) return [minutes, 'minute'];
  if (hours < 48 && hours !== 24) return [hours, 'hour'];
  return [Math.floor((seconds + units.h) / units.d), 'day'];
}

/** Writes seconds for `parseDuration`, in the largest unit up to days: `36h`. */
export function durationCode(seconds: number): string {
  const fits = (['d', 'h', 'm'] as const).find((unit) => seconds % units[unit] === 0);
  return fits ? `${seconds / units[fits]}${fits}` : `${seconds}s`;
}

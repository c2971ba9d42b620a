import { afterEach, describe, expect, test } from 'vitest';
import {
  durationCode,
  durationText,
  type Edition,
  expiryFields,
  isZoneKnown,
  localTime,
  parseDuration,
  parseExpiry,
  roundedTime,
} from '../../src/contract/lifetime';

test.each([
  ['0s', 0],
  ['45m', 2700],
  ['6h', 21_600],
  ['1h30m', 5400],
  ['3d', 259_200],
  ['2w', 1_209_600],
  ['1mo', 2_592_000],
  ['1mo1m', 2_592_060],
])('%s are %i seconds', (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
});

const none = ['', '6', 'h', '6 h', '-6h', '1.5h', '6y', '6hx', '1234567890s', '٣h'];
test.each(none)('"%s" is none', (text) => {
  expect([parseDuration(text), parseExpiry(text)]).toEqual([undefined, undefined]);
});

test.each<[string, ReturnType<typeof parseExpiry>]>([
  ['0h', undefined],
  ['90s', { after: 90 }],
  ['2026-08-20T14:06:45+02:00', { at: Date.UTC(2026, 7, 20, 12, 6, 45) }],
  ['2026-11-31', undefined],
  ['2026-12-01T', undefined],
  ['2026-12-01T9:00', undefined],
  ['2026-12-01T09:00 Z', undefined],
  ['2026-13-01T09:00Z', undefined],
  ['2026-11-31T09:00Z', undefined],
  ['2026-12-01T09:00:00.Z', undefined],
  ['2027-02-29T23:00-02:00', undefined],
])('the expiry "%s" is %j', (text, expiry) => {
  expect(parseExpiry(text)).toEqual(expiry);
});

test.each([
  [0.4, 1, 'second'],
  [59.5, 1, 'minute'],
  [3599, 1, 'hour'],
  [6001, 100, 'minute'],
  [7200 + 3539, 2, 'hour'],
  [7200 + 3540, 3, 'hour'],
  [86_340, 1, 'day'],
  [7 * 86_400 - 3600, 7, 'day'],
  [27 * 86_400 + 22 * 3600, 27, 'day'],
])('%f seconds to come are %i %s', (seconds, value, unit) => {
  expect(roundedTime(1000 * seconds)).toEqual([value, unit]);
});

test.each([
  [60, '1 minute', '1m'],
  [90, '1 minute 30 seconds', '90s'],
  [2700, '45 minutes', '45m'],
  [21_600, '6 hours', '6h'],
  [129_600, '1 day 12 hours', '36h'],
  [604_800, '7 days', '7d'],
  [90_061, '1 day 1 hour', '90061s'],
])('%i seconds are %s, or %s', (seconds, text, code) => {
  expect([durationText(seconds), durationCode(seconds)]).toEqual([text, code]);
  expect(parseDuration(code)).toBe(seconds);
});

test.each<[Edition, string, object | undefined]>([
  ['commercial', '14m', undefined],
  ['commercial', '20m', { expire_after_duration: 0 }],
  ['commercial', '45m', { expire_after_duration: 2 }],
  ['commercial', '6h', { expire_after_duration: 4 }],
  ['commercial', '11h', { expire_after_duration: 4 }],
  ['commercial', '1d', { expire_after_duration: 6 }],
  ['commercial', '10d', { expire_after_duration: 12 }],
  ['commercial', '2w', { expire_after_duration: 13 }],
  ['commercial', '1mo', { expire_after_duration: 15 }],
  ['commercial', '180d', { expire_after_duration: 17 }],
  ['oss', '23h', undefined],
  ['oss', '36h', { expire_after_days: 1 }],
  ['oss', '48h', { expire_after_days: 2 }],
  ['oss', '1mo', { expire_after_days: 30 }],
  ['pwpush', '59s', undefined],
  ['pwpush', '90s', { expires_in: 90 }],
  ['pwpush', '36h', { expires_in: 129_600 }],
  ['pwpush', '10d', { expire_after_days: 10 }],
])('%s is asked for %s, or the longest shorter time, by %j', (edition, text, fields) => {
  expect(expiryFields(parseDuration(text) ?? 0, edition)).toEqual(fields);
});

describe('a day is its end where the user is, and a time without a zone is of there', () => {
  const { TZ } = process.env;
  afterEach(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });

  test.each([
    ['Europe/Berlin', '2026-12-01', '2026-12-01T22:59:59.000Z', '1 Dec 2026, 23:59 (UTC+1)'],
    // The day of 25 hours.
    ['Europe/Berlin', '2026-10-25', '2026-10-25T22:59:59.000Z', '25 Oct 2026, 23:59 (UTC+1)'],
    ['Europe/Berlin', '2026-10-24', '2026-10-24T21:59:59.000Z', '24 Oct 2026, 23:59 (UTC+2)'],
    ['America/St_Johns', '2026-12-01', '2026-12-02T03:29:59.000Z', '1 Dec 2026, 23:59 (UTC-3:30)'],
    ['Europe/Berlin', '2026-12-01T09:00', '2026-12-01T08:00:00.000Z', '1 Dec 2026, 09:00 (UTC+1)'],
    ['Europe/Berlin', '2026-07-01 09:00:30', '2026-07-01T07:00:30.000Z', '1 Jul 2026, 09:00 (UTC+2)'],
    ['Europe/Berlin', '2026-07-01 09:00Z', '2026-07-01T09:00:00.000Z', '1 Jul 2026, 11:00 (UTC+2)'],
    ['UTC', '2028-02-29', '2028-02-29T23:59:59.000Z', '29 Feb 2028, 23:59 (UTC)'],
  ])('in %s, %s', (zone, day, time, words) => {
    process.env.TZ = zone;
    expect(parseExpiry(day)).toMatchObject({ at: Date.parse(time) });
    expect(localTime(Date.parse(time))).toBe(words);
  });

  const [winter, summer] = [Date.parse('2026-12-01T09:00Z'), Date.parse('2026-07-01T09:00Z')];
  const paths = ['/usr/share/zoneinfo/Europe/Berlin', ':/usr/share/zoneinfo/Europe/Berlin'];
  test.each([
    ...['', 'UTC', 'Etc/UTC', 'GMT', 'GMT0', 'Zulu', 'utc', 'UTC0', '<UTC>0', 'GMT+0', ':UTC'],
    ...['Europe/Berlin', ':Europe/Berlin', 'posix/Europe/Berlin', 'CET', 'EST5EDT', 'Etc/GMT-2'],
    ...['JST-9', 'EST5', 'UTC-2'],
  ])('the zone %j is known', (zone) => {
    process.env.TZ = zone;
    expect([winter, summer].map((at) => isZoneKnown(zone, at))).toEqual([true, true]);
  });

  test.each([
    ...['CET-1CEST', 'CET-1CEST,M3.5.0,M10.5.0/3', 'NZST-12NZDT', '<+0530>-5:30', 'IST-5:30'],
    ...['Europe/Berln', 'Foo', 'Z', '+02:00', 'UTC+02:00', '/etc/localtime', ...paths],
  ])('the zone %j is not known, as `Date` takes another one', (zone) => {
    process.env.TZ = zone;
    expect(isZoneKnown(zone, summer)).toBe(false);
  });

  test('a time of a zone that it names is of no other', () => {
    expect(parseExpiry('2026-12-01T09:00+02:00')).not.toHaveProperty('local');
    expect(parseExpiry('2026-12-01T09:00')).toHaveProperty('local', true);
  });
});

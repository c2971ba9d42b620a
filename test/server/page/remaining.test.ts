import { expect, test } from 'vitest';
import { clockTime, dateTime, duration } from '../../../src/server/page/layout';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test.each([
  [90 * DAY, '90 days'],
  [7 * DAY - 1, '7 days'],
  [1.5 * DAY, '2 days'],
  [1.5 * DAY - 1, '36 hours'],
  [DAY, '24 hours'],
  [1.5 * HOUR, '2 hours'],
  [1.5 * HOUR - 1, '90 minutes'],
  [5 * MINUTE, '5 minutes'],
  [MINUTE, 'one minute'],
  [MINUTE - 1, '60 seconds'],
  [1000, 'one second'],
  [1, 'one second'],
  [0, 'one second'],
])('%i ms are %s', (milliseconds, words) => {
  expect(duration(milliseconds)).toBe(words);
});

test('a dateTime is given in UTC, for people and for programs', () => {
  const time = Date.UTC(2026, 0, 5, 3, 4, 5);
  expect(dateTime(time).pieces.join('')).toBe(
    '<time datetime="2026-01-05T03:04:05.000Z">5 January 2026, 03:04 UTC</time>',
  );
  expect(clockTime(time).pieces.join('')).toBe(
    '<time datetime="2026-01-05T03:04:05.000Z">03:04:05 UTC</time>',
  );
});

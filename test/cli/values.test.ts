import { expect, test } from 'vitest';
import { days, expiry, seconds, waitingTime } from '../../src/cli/values';

// What is refused: test/cases/push-limits-bad.txt and wait-refused.txt.

const DAY = 86_400;

test.each([
  [seconds, '90s', 90],
  [seconds, '45m', 2700],
  [seconds, '1h30m', 5400],
  [seconds, '0.5', 0.5],
  [waitingTime, '2', 2],
  [seconds, '24h', DAY],
  [waitingTime, '90d', 90 * DAY],
  [days, '3', 3],
  [days, '3d', 3],
  [days, '2w', 14],
  [days, '48h', 2],
  [expiry, '90s', { after: 90 }],
  [expiry, '3d', { after: 3 * DAY }],
] as const)('a time is written in one way: %o reads %s', (read, value, time) => {
  expect(read(value, '--x')).toEqual(time);
});

test.each([
  [seconds, '86401'],
  [waitingTime, '7776001s'],
])('a time may not be longer: %o refuses %s', (read, value) => {
  expect(() => read(value, '--x')).toThrow(expect.objectContaining({ code: 'usage' }));
});

import { describe, expect, test } from 'vitest';
import { worded } from '../../src/cli/report-error';
import { days, expiry, seconds, waitingTime } from '../../src/cli/values';
import type { CliError } from '../../src/platform/errors';

const DAY = 86_400;

const refusal = (work: () => unknown) => {
  try {
    return work();
  } catch (error) {
    const { message, hint } = worded(error as CliError);
    return [message, hint];
  }
};

describe('a time is written in one way', () => {
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
  ] as const)('%o reads %s', (read, value, time) => {
    expect(read(value, '--x')).toEqual(time);
  });

  const units = '6h or 6d?';
  test.each([
    [expiry, '6', ['--days must be a duration or a time, not "6"', units]],
    [days, '6h', ['--days counts whole days, not "6h"', 'use --expire 6h']],
    [seconds, 'soon', ['--days must be a time such as 90s, 45m or 6h, not "soon"', undefined]],
    [seconds, '0s', ['--days must be more than 0, not "0s"', undefined]],
    [seconds, '86401', ['--days must be at most 1 day, not "86401"', undefined]],
    [waitingTime, '7776001s', ['--days must be at most 90 days, not "7776001s"', undefined]],
  ] as const)('%o refuses %s', (read, value, why) => {
    expect(refusal(() => read(value, '--days'))).toEqual(why);
  });
});

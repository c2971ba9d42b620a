import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { retryAfter } from '../../../src/client/transport/retry-after';

const now = new Date('2026-08-20T11:06:45.500Z');

describe('Retry-After', () => {
  test.each<[string, number]>([
    ['0', 0],
    ['7', 7],
    [' 120 ', 120],
    ['007', 7],
    ['Thu, 20 Aug 2026 11:06:57 GMT', 12],
    ['Thursday, 20-Aug-26 11:06:57 GMT', 12],
    ['Thu Aug 20 11:06:46 2026 GMT', 1],
    ['Thu, 20 Aug 2026 11:06:40 GMT', 0],
  ])('%j is %d seconds', (value, seconds) => {
    expect(retryAfter(value, now)).toBe(seconds);
  });

  test.each([undefined, '', ' ', '-1', '1.5', '1e3', '7 s', 'soon', '9999999999'])(
    '%j says nothing',
    (value) => {
      expect(retryAfter(value, now)).toBeUndefined();
    },
  );

  test('is a whole number of 0 or more, or nothing, whatever comes', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.date().map(String)), (value) => {
        const seconds = retryAfter(value, now);
        expect(seconds === undefined || (Number.isInteger(seconds) && seconds >= 0)).toBe(true);
      }),
    );
  });
});

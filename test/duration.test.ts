import { expect, test } from 'vitest';
import { parseDuration } from '../src/duration';

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

test.each(['', '6', 'h', '6 h', '-6h', '1.5h', '6y', '6hx', '1234567890s', '٣h'])(
  '"%s" is none',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

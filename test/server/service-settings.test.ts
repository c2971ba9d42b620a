import { describe, expect, test } from 'vitest';
import { numbers, optionName, variableName } from '../../src/contract/serve-settings';
import { checkSettings, memoryShare } from '../../src/server/service-settings';
import { defaults } from '../helpers/service';

describe.each(Object.entries(numbers))('%s', (name, { help, range, preset }) => {
  const [least, most] = range;
  const checked = (value?: number) => checkSettings({ ...defaults, [name]: value });
  const out = [
    ...(typeof least === 'number' ? [least - 1] : [0]),
    ...(typeof most === 'number' ? [most + 1] : []),
    1.5 * 1024 ** 2 + 0.5,
  ];

  const option = optionName(name);
  const label = help === undefined ? variableName(option) : option;

  test('out of its range is refused, by the name of its option, or of its variable without one', () => {
    for (const value of out)
      expect(() => checked(value)).toThrow(
        expect.objectContaining({ code: 'usage', message: expect.stringMatching(`^${label} must be `) }),
      );
  });

  test('is what its row says, if nobody has set it', () => {
    expect(checked()).toHaveProperty(name, preset ?? least);
  });
});

test.each([
  [256, 64],
  [257, 64.25],
  [100, 64],
])('of %i MiB of a container data in memory has %d', (most, share) => {
  const usage = () => ({ resident: 0, cpu: 0, most: most * 1024 ** 2 });
  expect(memoryShare({ usage })).toBe(share * 1024 ** 2);
});

test('a default moves into a range that an operator has made', () => {
  expect(checkSettings({ ...defaults, maxDays: 3, maxViews: 2 }).bounds).toEqual({
    days: { min: 1, max: 3, default: 3 },
    views: { min: 1, max: 2, default: 2 },
  });
  const { bounds } = checkSettings({ ...defaults, minDays: 10 });
  expect(bounds.days).toEqual({ min: 10, max: 90, default: 10 });
});

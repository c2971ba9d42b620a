import { expect, test } from 'vitest';
import { JsonSize, parseJson, valuesIn } from '../../src/contract/json';

test.each([
  ['{"a":"x,y,[{","b":[1,2]}', 4],
  ['["\\",[{",1]', 2],
  ['["\\\\",1,"\\\\"]', 3],
  ['"a,b', 0],
])('%s has so many commas and brackets outside of strings: %i', (text, count) => {
  expect(valuesIn(Buffer.from(text))).toBe(count);
});

test('a text of 250,000 values is parsed, and one of more is not', () => {
  const values = (count: number) => Buffer.from(`[${Array(count - 1).fill(0)},0]`);
  expect(parseJson(values(250_000))).toHaveLength(250_000);
  expect(() => parseJson(values(250_001))).toThrow('too many values');
});

test.each([
  ['["ab",12,"\\"c\\\\"]', 5],
  ['{"é":"\\u0001\\u00e9€"}', 7],
])('%s has so many bytes in its strings, wherever it is split: %i', (text, bytes) => {
  const whole = Buffer.from(text);
  for (let at = 0; at <= whole.length; at++) {
    const size = new JsonSize();
    size.add(whole.subarray(0, at));
    size.add(whole.subarray(at));
    expect(size.text).toBe(bytes);
  }
});

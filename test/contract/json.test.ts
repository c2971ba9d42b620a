import { expect, test } from 'vitest';
import { valuesIn } from '../../src/contract/json';

test.each([
  ['{"a":"x,y,[{","b":[1,2]}', 4],
  ['["\\",[{",1]', 2],
  ['["\\\\",1,"\\\\"]', 3],
  ['"a,b', 0],
])('%s has so many commas and brackets outside of strings: %i', (text, count) => {
  expect(valuesIn(Buffer.from(text))).toBe(count);
});

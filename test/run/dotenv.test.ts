import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDotenv } from '../../src/run/dotenv';

function read(text: string): Record<string, string> | number {
  const found = parseDotenv(text);
  if ('tooLong' in found) return -1;
  return 'variables' in found ? Object.fromEntries(found.variables) : found.wrongLine;
}

describe('reads', () => {
  test.each([
    ['A=1', { A: '1' }],
    ['A=1\nB=2\n', { A: '1', B: '2' }],
    ['\ufeffA=1', { A: '1' }],
    ['export A=1\n  export\tB=2', { A: '1', B: '2' }],
    ['# first\n\n \t\nA=1 # why\n#last', { A: '1' }],
    ['A = 1 \n B=  two words\t', { A: '1', B: 'two words' }],
    ['A=pa#ss\nB=#\nC= # nothing', { A: 'pa#ss', B: '#', C: '' }],
    ['A=1\nA=2', { A: '2' }],
    ['A=$HOME $(B) `id`', { A: '$HOME $(B) `id`' }],
    ["A='a $b \\n #c'  # comment", { A: 'a $b \\n #c' }],
    ['A="a\\n\\t\\"\\\\\\$\\`\\x" # comment', { A: 'a\n\t"\\$`\\x' }],
    ['A="C:\\dir"', { A: 'C:\\dir' }],
    ['A=`it\'s "so"`', { A: 'it\'s "so"' }],
    ["A='-----BEGIN\nKEY-----\n'\nB=1", { A: '-----BEGIN\nKEY-----\n', B: '1' }],
    ['A="one\r\ntwo"', { A: 'one\ntwo' }],
    ['A=a"b\'c', { A: 'a"b\'c' }],
    ['A=""\nB=\'\'\nC=ü漢', { A: '', B: '', C: 'ü漢' }],
  ])('%j', (text, variables) => {
    expect(read(text)).toEqual(variables);
  });
});

test.each([
  [1, ['hunter2', '', '# a comment alone', 'A=', 'c2VjcmV0=', 'c2VjcmV0==', 'A: 1', 'A=a\0b']],
  [1, ['A="open', 'A="a"b', '-----BEGIN KEY-----\nA=B\n']],
  [2, ['A=1\nhunter2', 'A=1\nexport B', 'A=1\n1B=2', 'A=1\nB-C=2', "A=1\nB='open\nC=2"]],
  [4, ['A="one\ntwo"\n\nthree']],
])('refuses, and tells line %i: %j', (line, texts) => {
  expect(texts.map(read)).toEqual(texts.map(() => line));
});

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,9}$/);
const value = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'));
const single = (text: string) => `'${text}'`;
const double = (text: string) =>
  `"${text
    .replace(/[\\"$`]/g, '\\$&')
    .replaceAll('\r', '\\r')
    .replaceAll('\n', '\\n')}"`;

test('what is quoted comes back', () => {
  const written = fc.record({ name, value }).map((one) => {
    const plain = one.value.replaceAll('\r', '');
    return plain.includes("'")
      ? { ...one, line: `${one.name}=${double(one.value)}` }
      : { name: one.name, value: plain, line: `export ${one.name}=${single(plain)}  # x` };
  });
  fc.assert(
    fc.property(fc.array(written, { minLength: 1 }), (all) => {
      const wanted = Object.fromEntries(all.map((one) => [one.name, one.value]));
      fc.pre(Object.values(wanted).some((one) => one !== ''));
      expect(read(all.map(({ line }) => line).join('\n'))).toEqual(wanted);
    }),
  );
});

test('any text is read or refused, at a line that it has', () => {
  const pieces = fc.constantFrom(...['A', '=', '"', "'", '`', '\\', '\n', '\r\n', ' ', '#', 'export ', '\0']);
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(pieces).map((all) => all.join('')),
  );
  fc.assert(
    fc.property(text, (any) => {
      const found = read(any);
      if (typeof found === 'number') expect(found).toBeLessThanOrEqual(any.split('\n').length);
      else expect(Object.keys(found).every((one) => /^[A-Za-z_]\w*$/.test(one))).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

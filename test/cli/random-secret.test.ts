import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { wordList } from '../../src/age/words';
import { type GeneratedSecret, generate, generateWords, parseGenerate } from '../../src/cli/random-secret';

describe.each([
  { of: 'signs', size: 62, one: /^[a-km-zA-HJ-NP-Z2-9._+@%-]$/ },
  { of: 'alnum', size: 56, one: /^[a-km-zA-HJ-NP-Z2-9]$/ },
  { of: 'hex', size: 16, one: /^[0-9a-f]$/ },
  { of: 'digits', size: 10, one: /^[0-9]$/ },
] as const)('of $of', ({ of, size, one }) => {
  test('each of the alphabet is drawn by a number of its own, and by one only', async () => {
    const asked = new Set<number>();
    let next = 0;
    const draw = (below: number) => {
      asked.add(below);
      return next++;
    };
    const all = await generate({ of, count: size }, draw);
    expect([...asked]).toEqual([size]);
    expect(new Set(all).size).toBe(size);
    expect([...all].filter((drawn) => !one.test(drawn))).toEqual([]);
    expect(await generate({ of, count: 24 })).not.toBe(await generate({ of, count: 24 }));
  });
});

test('the words are those of the EFF, as its file has them', async () => {
  const dice = (at: number) => Number(at.toString(6)) + 11_111;
  const file = (await wordList()).map((word, at) => `${dice(at)}\t${word}\n`).join('');
  expect(createHash('sha256').update(file).digest('hex')).toBe(
    'addd35536511597a02fa0a9ff1e5284677b8883b83e986e43f15a3db996b903e',
  );
});

test('each word is drawn by a number of its own, then a digit, and is new each time', async () => {
  const words = (await wordList()).filter((word) => !word.includes('-'));
  const asked: number[] = [];
  let next = 0;
  const all = await generate({ of: 'words', count: words.length }, (below) => {
    asked.push(below);
    return next++ % below;
  });
  expect(all).toBe(`${words.join('-')}${2 + (words.length % 8)}`);
  expect(new Set(asked)).toEqual(new Set([words.length, 8]));
  expect(await generateWords(5)).not.toBe(await generateWords(5));
});

describe('what --generate takes', () => {
  test.each<[string | true, GeneratedSecret]>([
    [true, { of: 'signs', count: 24 }],
    ['8', { of: 'signs', count: 8 }],
    ['alnum:20', { of: 'alnum', count: 20 }],
    ['digits:4', { of: 'digits', count: 4 }],
    ['words:64', { of: 'words', count: 64 }],
  ])('%j', (text, wanted) => {
    expect(parseGenerate(text)).toEqual(wanted);
  });

  test.each([
    ['7', 'from 8 to 1024'],
    ['1025', 'from 8 to 1024'],
    ['words:3', 'from words:4 to words:64'],
    ['words:65', 'from words:4 to words:64'],
    ['hex:15', 'from hex:16 to hex:1024'],
    ['digits:3', 'from digits:4 to digits:1024'],
  ])('%j is out of bounds', (text, allowed) => {
    expect(() => parseGenerate(text)).toThrow(`--generate must be ${allowed}, not ${text}`);
  });

  test('all else is refused', () => {
    const wrong = ['0', '-1', '12.5', '', '1e2', 'words', 'words:', 'Words:5', 'signs:24', 'x:9'];
    const inherited = ['constructor:9', 'toString:9', '__proto__:9'];
    const any = fc.string().filter((text) => !/\d/.test(text));
    for (const text of [...wrong, ...inherited, ...fc.sample(any, 50)])
      expect(() => parseGenerate(text)).toThrow(
        /^--generate must be from 8 to 1024, or a kind and number such as words:5$/,
      );
  });
});

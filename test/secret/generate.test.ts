import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { generatePassword, generateWords } from '../../src/secret/generate';
import { wordList } from '../../src/secret/words';

test('a password is as long as asked, of characters that are told apart, and new each time', () => {
  const passwords = Array.from({ length: 200 }, () => generatePassword(24));
  expect(new Set(passwords).size).toBe(200);
  expect(passwords.filter((password) => !/^[\w.+=@%-]{24}$/.test(password))).toEqual([]);
  expect(passwords.join('')).not.toMatch(/[0O1lI]/);
  expect(generatePassword(1024)).toHaveLength(1024);
});

test('every character of the alphabet comes up', () => {
  expect(new Set(generatePassword(20_000)).size).toBe(63);
});

test('the words are those of the EFF, as its file has them', () => {
  const dice = (at: number) =>
    at
      .toString(6)
      .padStart(5, '0')
      .replace(/./g, (digit) => `${Number(digit) + 1}`);
  const file = wordList()
    .map((word, at) => `${dice(at)}\t${word}\n`)
    .join('');
  expect(createHash('sha256').update(file).digest('hex')).toBe(
    'addd35536511597a02fa0a9ff1e5284677b8883b83e986e43f15a3db996b903e',
  );
});

test('words are drawn from all of the list, and are new each time', async () => {
  // A few of the words have a dash themselves.
  const known = new Set(wordList().flatMap((word) => word.split('-')));
  const words = (await generateWords(10_000)).split('-');
  expect(words.length).toBeGreaterThanOrEqual(10_000);
  expect(words.filter((word) => !known.has(word))).toEqual([]);
  // Of 7,776 about 5,630 come up.
  expect(new Set(words).size).toBeGreaterThan(5000);
  expect(await generateWords(5)).not.toBe(await generateWords(5));
});

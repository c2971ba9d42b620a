import { expect, test } from 'vitest';
import { generatePassword } from '../../src/secret/generate';

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

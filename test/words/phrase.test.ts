import { expect, test } from 'vitest';
import { phrase } from '../../src/platform/errors';
import { adviceFor, clause } from '../../src/words/phrase';

test.each([
  ['expire_after_days', '1 to 90', '--days must be from 1 to 90 on this instance'],
  ['expire_after_days', '5 to 5', '--days must be 5 on this instance'],
  ['close_after_duration', '3 to 17', '--expire must be from 1 hour to 90 days on this instance'],
  ['expires_in', '864000 to 864000', '--expire must be 10 days on this instance'],
])('a range of %s, %s, is one of its option', (field, range, words) => {
  expect(clause(phrase('body-field', field, `must be an integer from ${range}`))).toBe(words);
});

test.each([
  [["it's"], 'delete the file when done', "rm 'it'\\''s'"],
  [['a', '$b'], 'delete the files when done', "rm 'a' '$b'"],
])('the command that removes %j can be copied to a shell', (paths, text, command) => {
  expect(adviceFor(phrase('delete-saved', ...paths))).toEqual({ text, command });
});

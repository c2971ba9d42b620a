import { expect, test } from 'vitest';
import { asking } from '../helpers/foreign';

/** The outcome with a config file that cannot be read and no instance, neither of which matters. */
const generate = (...words: string[]) =>
  asking([], ['generate', ...words], { env: { PWPUSH_URL: '', PWPUSH_CONFIG_DIR: '/dev/null' } });

test.each([
  [[], /^[a-km-zA-HJ-NP-Z2-9._+=@%-]{24}\n$/],
  [['40'], /^[a-km-zA-HJ-NP-Z2-9._+=@%-]{40}\n$/],
  [['alnum:20'], /^[a-km-zA-HJ-NP-Z2-9]{20}\n$/],
  [['hex:32'], /^[0-9a-f]{32}\n$/],
  [['digits:6'], /^\d{6}\n$/],
  [['words:5'], /^[a-z]+(-[a-z]+){4,}\n$/],
  [['hex:16', '--json'], /^\{"payload":"[0-9a-f]{16}"\}\n$/],
])('%j prints a secret, and sends and says nothing', async (words, printed) => {
  expect(await generate(...words)).toEqual({
    code: 0,
    stdout: expect.stringMatching(printed),
    stderr: '',
    sent: [],
    waits: [],
  });
});

test('a secret is another one each time', async () => {
  expect((await generate()).stdout).not.toBe((await generate()).stdout);
});

test.each([
  ['words:2', 'the length must be from words:4 to words:64, not words:2', []],
  [
    'hunter2',
    'the length must be from 8 to 1024, or a kind and number such as words:5',
    ['hint: use alnum:24, hex:32, digits:6 or words:5'],
  ],
])('%s is not a length', async (length, message, hints) => {
  expect(await generate(length)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: [`pwpush: ${message}`, ...hints, ''].join('\n'),
  });
});

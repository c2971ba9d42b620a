import { symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ForeignLink, followed, whyForeign } from '../../src/platform/files/owner';
import { place } from '../helpers/run';

const [ME, OTHER, ROOT] = [1000, 2000, 0];

test.each<[number, number, number | undefined, string | undefined]>([
  [ME, 0o600, ME, undefined],
  [ROOT, 0o644, ME, undefined],
  [OTHER, 0o600, ME, 'belongs to another user'],
  [OTHER, 0o600, ROOT, 'belongs to another user'],
  [ME, 0o620, ME, 'is open to other users'],
  [ME, 0o602, ME, 'is open to other users'],
  // Windows has no users.
  [OTHER, 0o666, undefined, undefined],
])('a file of user %i and mode %o, for user %s: %s', (uid, mode, user, why) => {
  expect(whyForeign({ uid, mode }, user)).toBe(why);
});

test('40 links are followed one after the other, and no more', () => {
  const here = place();
  for (let at = 0; at <= 40; at += 1) symlinkSync(at === 0 ? 'file' : `${at - 1}`, here.file(`${at}`));
  expect(followed(here.file('39'), process.getuid?.())).toBe(here.file('file'));
  expect(() => followed(here.file('40'), process.getuid?.())).toThrow(ForeignLink);
});

test('a path where there is nothing leads to itself, without users too', () => {
  expect([ME, undefined].map((user) => followed('/none/at/all', user))).toEqual(['/none/at/all', '/none/at/all']);
});

import { expect, test } from 'vitest';
import { followed, whyForeign } from '../../src/platform/files/owner';

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

test('a path where there is nothing leads to itself, without users too', () => {
  expect([ME, undefined].map((user) => followed('/none/at/all', user))).toEqual(['/none/at/all', '/none/at/all']);
});

import { describe, expect, test } from 'vitest';
import { parseToken } from '../../src/profile/api-token';
import type { Profile } from '../../src/profile/settings';
import { checkProfileName, withSetting } from '../../src/profile/settings';

describe('a setting', () => {
  test.each<[string, string, Profile]>([
    ['url', 'pw.test/', { url: 'https://pw.test' }],
    ['days', '3', { days: 3 }],
    ['views', '1', { views: 1 }],
    ['deletable', 'no', { deletable: false }],
    ['click', 'on', { click: true }],
    ['ca-file', '/etc/ca.pem', { 'ca-file': '/etc/ca.pem' }],
    ['account', '123', { account: 123 }],
    ['insecure', 'yes', { insecure: true }],
  ])('%s %s is kept as its own type', (key, value, profile) => {
    expect(withSetting({}, key, value)).toEqual(profile);
  });

  test('without a value it is removed, and nothing else; an empty one is refused', () => {
    expect(withSetting({ days: 3, views: 1 }, 'days', undefined)).toEqual({ views: 1 });
    expect(() => withSetting({ days: 3 }, 'days', '')).toThrow('days cannot be empty');
  });

  test('another address drops the token, which belonged to the old one; the same keeps it', () => {
    const profile = { url: 'https://a.test', token: 'secret', days: 1 };
    expect([
      withSetting(profile, 'url', 'https://b.test'),
      withSetting(profile, 'url', 'https://a.test/x'),
      withSetting(profile, 'url', undefined),
      withSetting(profile, 'url', 'A.test/'),
    ]).toEqual([{ url: 'https://b.test', days: 1 }, { url: 'https://a.test/x', days: 1 }, { days: 1 }, profile]);
  });

  test('the first address keeps what was set before it, for which there was no other', () => {
    const before = { account: 123, 'ca-file': '/etc/ca.pem', 'token-command': 'pass show pwpush' };
    const url = 'https://a.test';
    expect(withSetting(before, 'url', url)).toEqual({ ...before, url });
  });

  test.each([
    ...['token x', 'colour x', 'toString x', '__proto__ x', 'days 0', 'days 1.5', 'views many'],
    ...['account Work', 'deletable maybe', 'url ftp://x'],
  ])('%s is refused', (words) => {
    const [key = '', value = ''] = words.split(' ');
    expect(() => withSetting({}, key, value)).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

describe('a name', () => {
  test.each(['work', 'a', '0', 'pw.example.com-8443', 'a_b', 'x'.repeat(64)])('%s is fine', (name) => {
    expect(() => checkProfileName(name)).not.toThrow();
  });

  const refused = ['', '-x', '--json', '.hidden', 'a b', 'a/b', 'ü', '__proto__', 'x'.repeat(65), 'a\n'];
  test.each(refused)('%j is refused', (name) => {
    expect(() => checkProfileName(name)).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

describe('a token', () => {
  test.each([
    ['abc', 'abc'],
    [' abc\r\n', 'abc'],
    ['pwp_A-Z.~+/=', 'pwp_A-Z.~+/='],
  ])('%j is %s', (text, token) => {
    expect(parseToken(text, 'x')).toBe(token);
  });

  test.each(['', ' \n', 'S3 b', 'S3\nb', 'S3\0b', 'S3ö', 'S3\u001b'])(
    '%j is refused, without being repeated',
    (text) => {
      const refused = { code: 'usage', message: expect.not.stringContaining('S3') };
      expect(() => parseToken(text, 'x')).toThrow(expect.objectContaining(refused));
    },
  );
});

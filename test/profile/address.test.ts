import { describe, expect, test } from 'vitest';
import { parseBase } from '../../src/profile/base-address';
import type { StoredProfiles } from '../../src/profile/settings';
import { requestOf, targetFrom } from '../helpers/target-request';

const target = (stored: StoredProfiles, wished: { insecure?: true; anonymous?: true } = {}) =>
  targetFrom(stored, requestOf(wished));

describe('a token over plain http', () => {
  const stored = (url: string, insecure = false): StoredProfiles => ({
    current: 'p',
    profiles: { p: { url, token: 'token', ...(insecure ? { insecure } : {}) } },
  });

  test.each([
    ...['http://pw.test', 'http://pw.test:8080', 'http://10.0.0.1'],
    ...['http://127.0.0.1.evil.test', 'http://localhost.evil.test'],
  ])('is refused to %s', async (url) => {
    await expect(target(stored(url))).rejects.toThrow(
      `refusing to send the token over plain http to ${new URL(url).host}: anyone on the way could read it`,
    );
  });

  test.each([
    ...['http://localhost:5100', 'http://127.0.0.1', 'http://127.9.9.9', 'http://[::1]:5100'],
    'http://pw.localhost',
  ])('is fine to %s', async (url) => {
    expect((await target(stored(url))).token).toBe('token');
  });

  test('is taken when the profile says insecure, or none is sent; --insecure is about certificates', async () => {
    const url = 'http://pw.test';
    expect((await target(stored(url, true))).token).toBe('token');
    expect((await target(stored(url), { anonymous: true })).token).toBe(undefined);
    const refused = { code: 'usage' };
    await expect(target(stored(url), { insecure: true })).rejects.toMatchObject(refused);
  });
});

describe('an address as typed', () => {
  test.each([
    ['https://pw.test', 'https://pw.test'],
    [' https://pw.test/ ', 'https://pw.test'],
    ['https://pw.test/x//', 'https://pw.test/x'],
    ['https://pw.test/x/api/v2/', 'https://pw.test/x'],
    ['HTTPS://PW.test:443', 'https://pw.test'],
    ['pw.test', 'https://pw.test'],
    ['pw.test:8443/x', 'https://pw.test:8443/x'],
    ['localhost:5100', 'http://localhost:5100'],
    ['127.0.0.1:5100', 'http://127.0.0.1:5100'],
    ['[::1]:5100', 'http://[::1]:5100'],
  ])('%j is %s', (typed, base) => {
    expect(parseBase(typed)).toBe(base);
  });

  const tokens = ['pwp_hunter2', 'abc_def', 'Jk3dF8sQw2mZx0pLr7tVg'];
  const urls = ['ftp://pw.test', 'https://', 'https://pw.test?x=1', 'https://pw.test#x'];
  const wrong = ['', 'a b', 'https://ann:pw@pw.test', ...tokens, ...urls];
  test.each(wrong)('%j is refused', (typed) => {
    expect(() => parseBase(typed)).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

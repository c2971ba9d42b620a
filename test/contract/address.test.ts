import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLoopback, parseUrl, parseWebUrl, webAddress } from '../../src/contract/address';
import { times } from '../helpers/long';

const loopback =
  '127.0.0.1 127.255.255.254 ::1 0:0:0:0:0:0:0:1 [::1] ::ffff:127.0.0.1 ::FFFF:7F00:1 [::ffff:7f00:1] ' +
  'localhost LocalHost. pw.localhost a.b.localhost.';
test.each(loopback.split(' '))('%s is this machine', (host) => {
  expect(isLoopback(host)).toBe(true);
});

const elsewhere =
  '126.0.0.1 128.0.0.1 10.127.0.1 0.0.0.0 :: ::2 ::ffff:128.0.0.1 ::127.0.0.1 1::1 fe80::1 fe80::1%lo ' +
  'localhost.test mylocalhost .localhost 127.0.0.1.test 127.0.0.1:80 localhost:80 127.0.0.1/ ' +
  'localhost/x x@localhost localhost? localhost# [::1 ::1]';
test.each(['', 'a b', 'local\thost', ...elsewhere.split(' ')])('%j is not', (host) => {
  expect(isLoopback(host)).toBe(false);
});

test('an address is parsed however many were before, unlike by URL.canParse of Node 20', () => {
  for (let at = 0; at < 50_000; at++) parseUrl(`https://pw.test/p/${at}`);
  for (let at = 0; at < 1_000; at++)
    expect(parseUrl('https://münchen.de/ü')?.href).toBe('https://xn--mnchen-3ya.de/%C3%BC');
});

test('what is no address of the web is undefined', () => {
  expect([parseUrl('http://['), parseUrl('/p/abc'), parseWebUrl('ftp://pw.test')]).toEqual(Array(3).fill(undefined));
  expect(parseUrl('/p/abc', 'https://pw.test')?.href).toBe('https://pw.test/p/abc');
});

/** A host of so many characters, its labels as long as they may be. */
const hostOf = (length: number) => 'x'.repeat(length).replace(/(?<=^(?:.{64})*.{63})x/g, '.');

test.each<[string, number, (length: number) => string]>([
  ['an address', 4096, (length) => `https://pw.test/${'x'.repeat(length - 16)}`],
  ['a path', 4096, (length) => `/${'x'.repeat(length - 1)}`],
  ['a host', 253, (length) => `https://${hostOf(length)}:8443/p/x`],
  ['a label', 63, (length) => `https://pw.${'x'.repeat(length)}.test/`],
  ['one that is encoded', 63, (length) => `https://${'é'.repeat(length)}`],
  ['one of characters with two code units', 63, (length) => `https://${'𠀀'.repeat(length)}?`],
  ['one after a login', 63, (length) => `https://a.b:c@d@${'x'.repeat(length)}#@`],
  ['one with tabs and line ends', 63, (length) => `\0 ht\ntps:/\t/\r${'x\t'.repeat(length)}/`],
  ['one after backslashes', 63, (length) => `http:\\\\\\${'x'.repeat(length)}\\y`],
  ['one without slashes', 63, (length) => `http:${'x'.repeat(length)}`],
  ['one without a scheme', 63, (length) => `//${'x'.repeat(length)}`],
])('%s of more than %i characters is not parsed', (_, most, address) => {
  const parsed = [most, most + 1].map((length) => parseUrl(address(length), 'https://pw.test/'));
  expect(parsed).toEqual([expect.any(URL), undefined]);
});

test('however an address is written, its host is measured', () => {
  const long = 'x'.repeat(40);
  const parts = fc.array(fc.constantFrom(long, long, ...'@:/\\?#[].\t\n\r \0a%', 'http:', '%2e'));
  fc.assert(
    fc.property(fc.constantFrom('https://', 'http:', '', '//'), parts, (before, all) => {
      const url = parseUrl(before + all.join(''), 'https://pw.test/');
      const labels = url?.hostname.split('.') ?? [];
      expect(labels.filter((label) => label.length > 63)).toEqual([]);
    }),
    { numRuns: times(2000) },
  );
});

const SHELL = `$(id) \`id\` ;id |id ' " !! * {a,b} <(id) \\ ^ [a]`.split(' ');

test('an address of an instance has one form, which no shell takes for more than a word', () => {
  const parts = fc.array(fc.oneof(fc.constantFrom(...SHELL, '%', '&', '#', '?', 'é'), fc.string()));
  const addresses = fc
    .tuple(fc.constantFrom('https://pw.test/', 'http://', 'https://[::1]:5100/', ''), parts)
    .map(([before, all]) => before + all.join(''));
  fc.assert(
    fc.property(addresses, (text) => {
      const found = webAddress(text);
      if (found === undefined) return;
      expect(found).toMatch(/^https?:\/\/(?:\[[\da-f:]+\])?[\w.~:/?#@%=&+,-]*$/);
      expect(webAddress(found)).toBe(found);
    }),
    { numRuns: 2000 },
  );
  expect(webAddress('https://pw.test/$(id)/p/x?a=`b`#c|d')).toBe('https://pw.test/%24%28id%29/p/x?a=%60b%60#c%7Cd');
});

test.each([
  ...['https://ann:pw@pw.test/p/x', 'https://pw.test/p/x y', 'ftp://pw.test/p/x', '/p/x', ''],
  ...['https://pw.test/p/x\u200b', `https://pw.test/${'x'.repeat(4081)}`],
  // Longer only when it is escaped.
  `https://pw.test/${'$'.repeat(2000)}`,
  `https://${'$'.repeat(22)}.test/`,
])('%.40j is no link of an instance', (text) => {
  expect(webAddress(text)).toBeUndefined();
});

test('one of 4,096 characters is; nothing is looked for in a longer one', () => {
  const longest = `https://pw.test/${'x'.repeat(4080)}`;
  expect(webAddress(longest)).toBe(longest);
  expect(webAddress(`https://pw.test/${'?'.repeat(2_000_000)}~`)).toBeUndefined();
});

import { expect, test } from 'vitest';
import { isLoopback, parseUrl, parseWebUrl } from '../../src/contract/address';

test.each([
  ...['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1', '[::1]'],
  ...['::ffff:127.0.0.1', '::FFFF:7F00:1', '[::ffff:7f00:1]'],
  ...['localhost', 'LocalHost.', 'pw.localhost', 'a.b.localhost.'],
])('%s is this machine', (host) => {
  expect(isLoopback(host)).toBe(true);
});

test.each([
  ...['', '126.0.0.1', '128.0.0.1', '10.127.0.1', '0.0.0.0', '::', '::2', '::ffff:128.0.0.1'],
  ...['::127.0.0.1', '1::1', 'fe80::1', 'fe80::1%lo', 'localhost.test', 'mylocalhost'],
  '.localhost',
  ...['127.0.0.1.test', '127.0.0.1:80', 'localhost:80', '127.0.0.1/', 'localhost/x', 'x@localhost'],
  ...['localhost?', 'localhost#', 'a b', 'local\thost', '[::1', '::1]'],
])('%j is not', (host) => {
  expect(isLoopback(host)).toBe(false);
});

test('an address is parsed however many were before, unlike by URL.canParse of Node 20', () => {
  for (let at = 0; at < 50_000; at++) parseUrl(`https://pw.test/p/${at}`);
  for (let at = 0; at < 1_000; at++)
    expect(parseUrl('https://münchen.de/ü')?.href).toBe('https://xn--mnchen-3ya.de/%C3%BC');
});

test('what is no address of the web is undefined', () => {
  expect([parseUrl('http://['), parseUrl('/p/abc'), parseWebUrl('ftp://pw.test')]).toEqual(
    Array(3).fill(undefined),
  );
  expect(parseUrl('/p/abc', 'https://pw.test')?.href).toBe('https://pw.test/p/abc');
});

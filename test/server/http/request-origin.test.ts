import { expect, test } from 'vitest';
import { baseOf, ipOf, isCrossSite, isOwnForm, isPrefetch } from '../../../src/server/http/request-origin';

const request = (headers: Record<string, string> = {}) => new Request('http://pw.test:5100/p/x', { headers });

const ip = (forwarded: string, socket?: string) => ipOf(request({ 'x-forwarded-for': forwarded }), { ip: socket });

const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'push.example.com' };

test.each([
  [{}, undefined, 'http://pw.test:5100'],
  [forwarded, undefined, 'https://push.example.com'],
  [{ 'x-forwarded-proto': 'HTTPS' }, undefined, 'https://pw.test:5100'],
  [forwarded, 'https://public.example/x', 'https://public.example/x'],
  [{ 'x-forwarded-proto': 'javascript' }, undefined, 'http://pw.test:5100'],
  [{ 'x-forwarded-host': 'a/b' }, undefined, 'http://pw.test:5100'],
  [{ 'x-forwarded-host': 'u@evil.example' }, undefined, 'http://pw.test:5100'],
  [{ 'x-forwarded-host': '[::1]:80' }, undefined, 'http://[::1]'],
  [{ ...forwarded, 'x-forwarded-host': 'PW.Test:443' }, undefined, 'https://pw.test'],
])('base address %j', (headers, publicUrl, expected) => {
  expect(baseOf(request(headers), { publicUrl })).toBe(expected);
});

test.each([
  ['x-forwarded-proto', 'http, https', 'https://pw.test:5100'],
  ['x-forwarded-proto', 'https, http', 'http://pw.test:5100'],
  ['x-forwarded-host', 'evil.example, pw.example', 'http://pw.example'],
  ['x-forwarded-host', 'pw.example,', 'http://pw.test:5100'],
])('%s has what a client says before what a proxy appends: %j', (name, value, expected) => {
  expect(baseOf(request({ [name]: value }), {})).toBe(expected);
});

test.each([
  ['203.0.113.9', '192.0.2.1', '203.0.113.9'],
  ['1.1.1.1, 203.0.113.9', '127.0.0.1', '203.0.113.9'],
  // What stands before the last hop is the client's own word, private addresses after it included.
  ['203.0.113.9, 10.0.0.2', '127.0.0.1', '10.0.0.2'],
  ['203.0.113.9, unknown', '127.0.0.1', '127.0.0.1'],
  ['203.0.113.9,', '127.0.0.1', '127.0.0.1'],
  ['203.0.113.9:8080', '127.0.0.1', '203.0.113.9'],
  ['[2001:db8::1]:8080', '127.0.0.1', '2001:db8::1'],
  ['::ffff:203.0.113.9', '127.0.0.1', '203.0.113.9'],
  ['<script>, 2001:db8::1', '127.0.0.1', '2001:db8::1'],
  ['', '::ffff:192.0.2.7', '192.0.2.7'],
])('address of the caller: %j, from %s', (forwarded, socket, expected) => {
  expect(ip(forwarded, socket)).toBe(expected);
});

test.each([
  [{ 'sec-purpose': 'prefetch' }, true],
  [{ 'sec-purpose': 'prefetch;prerender' }, true],
  [{ purpose: 'prefetch' }, true],
  [{ 'x-moz': 'prefetch' }, true],
  [{ 'x-purpose': 'preview' }, true],
  [{ 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/126.0 Safari/537.36' }, false],
  [{ 'user-agent': 'pwpush/0.1.0' }, false],
  [{}, false],
])('%j is a prefetch: %s', (headers, expected) => {
  expect(isPrefetch(request(headers))).toBe(expected);
});

// Over plain http, browsers say the origin alone; under no-referrer, our own forms have the origin `null`.
test.each([
  [{}, true],
  [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, true],
  // The address bar.
  [{ 'sec-fetch-site': 'none' }, true],
  [{ 'sec-fetch-site': 'cross-site' }, false],
  [{ 'sec-fetch-site': 'same-site', origin: 'http://pw.test:5100' }, false],
  [{ 'sec-fetch-site': '', origin: 'null' }, false],
  [{ origin: 'http://pw.test:5100' }, true],
  [{ origin: 'null' }, true],
  [{ origin: 'http://evil.example' }, false],
  [{ origin: 'https://pw.test:5100' }, false],
  [{ origin: 'http://pw.test:5100.evil.example' }, false],
  [{ origin: 'http://pw.test:5100@evil.example' }, false],
  [{ origin: 'http://a.b', 'x-forwarded-host': 'a.b' }, false],
])('a form with %j is ours: %s', (headers, expected) => {
  expect(isOwnForm(request(headers), 'http://pw.test:5100')).toBe(expected);
});

const FORM = 'application/x-www-form-urlencoded';

test.each([
  [{ 'sec-fetch-site': 'cross-site' }, true],
  [{ 'sec-fetch-site': 'same-site' }, false],
  [{ 'sec-fetch-site': 'same-origin' }, false],
  [{ 'sec-fetch-site': 'none' }, false],
  [{ origin: 'http://evil.example', 'content-type': FORM }, true],
  // That of a sandboxed frame.
  [{ origin: 'null', 'content-type': FORM }, true],
  [{ origin: 'http://evil.example', 'content-type': 'multipart/form-data; boundary=b' }, true],
  [{ origin: 'http://evil.example', 'content-type': 'text/plain' }, true],
  [{ origin: 'http://evil.example' }, true],
  [{ origin: 'http://pw.test:5100', 'content-type': FORM }, false],
  // A browser asks about this first.
  [{ origin: 'chrome-extension://abc', 'content-type': 'application/json' }, false],
  [{}, false],
])('a call with %j is of another site: %s', (headers, expected) => {
  expect(isCrossSite(request(headers), 'http://pw.test:5100')).toBe(expected);
});

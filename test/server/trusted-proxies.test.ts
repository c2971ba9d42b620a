import { expect, test } from 'vitest';
import { baseOf, ipOf } from '../../src/server/http/request-origin';
import { trustedProxies, withoutForged } from '../../src/server/trusted-proxies';

const forwarded = {
  'x-forwarded-for': '203.0.113.9',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'push.example.com',
};

const NETWORKS = ['10.0.0.0/8', '192.0.2.1/32', 'fd00::/8'];

test.each<[boolean | string[] | undefined, string | undefined, boolean]>([
  [undefined, '127.0.0.1', false],
  [false, '127.0.0.1', false],
  [true, '203.0.113.1', true],
  [true, undefined, true],
  [NETWORKS, '10.255.0.1', true],
  [NETWORKS, '::ffff:10.0.0.1', true],
  [NETWORKS, '11.0.0.1', false],
  [NETWORKS, '192.0.2.1', true],
  [NETWORKS, '192.0.2.2', false],
  [NETWORKS, 'fd12::1', true],
  [NETWORKS, 'fe80::1', false],
  [NETWORKS, undefined, false],
  [['0.0.0.0/0'], '203.0.113.1', true],
  [['0.0.0.0/0'], '2001:db8::1', false],
])('proxies %j: X-Forwarded-* of %s is trusted: %s', (trustProxy, from, expected) => {
  const warnings: string[] = [];
  const clean = withoutForged(trustedProxies(trustProxy), (text) => warnings.push(text));
  for (let i = 0; i < 2; i += 1) {
    const asked = new Request('http://pw.test:5100/p/x', { headers: forwarded });
    clean(asked, from);
    expect(ipOf(asked, { ip: from }) === '203.0.113.9').toBe(expected);
    expect(baseOf(asked, {})).toBe(expected ? 'https://push.example.com' : 'http://pw.test:5100');
  }
  const warning = `X-Forwarded-For came from ${from ?? 'a Unix socket'}, which is not trusted`;
  expect(warnings).toEqual(expected ? [] : [expect.stringContaining(warning)]);
});

test.each(['10.0.0.0/33', '10.0.0.0/', 'proxy.example', '10.0.0', '', '::1/129', '10.0.0.0/8/8', 'fe80::1%eth0'])(
  'a network %j is refused',
  (network) => {
    expect(() => trustedProxies([network])).toThrow('--trust-proxy must name networks');
  },
);

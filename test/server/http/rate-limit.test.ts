import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { networkOf } from '../../../src/server/http/rate-limit';
import type { ServiceSettings } from '../../../src/server/service-settings';
import { Buckets } from '../../../src/server/shares';
import { type Call, call, filePart, opened, type TestService } from '../../helpers/service';

describe('a bucket', () => {
  const perSecond = { requests: 3, milliseconds: 1000 };

  test('gives so many at once, and as many again in each period', () => {
    const buckets = new Buckets(perSecond);
    const waits = [0, 0, 0, 0, 333, 334, 667, 3000, 3000, 3000, 3000].map((now) =>
      Math.ceil(buckets.take('192.0.2.1', now)),
    );
    expect(waits).toEqual([0, 0, 0, 334, 1, 0, 0, 0, 0, 0, 334]);
  });

  test('each address has its own, and a network of IPv6 has one', () => {
    const buckets = new Buckets({ requests: 1, milliseconds: 1000 });
    const given = (address: string) => buckets.take(networkOf(address), 0) === 0;
    expect(['192.0.2.1', '192.0.2.2', '2001:db8:0:1::1', '2001:db8:0:2::1'].map(given)).toEqual(Array(4).fill(true));
    expect(['192.0.2.1', '2001:db8:0:1:ffff::2', '2001:db8::2:0:0:0:1'].map(given)).toEqual(Array(3).fill(false));
  });

  test('a line with many networks of IPv6 has twice as much as one of them, a site four times', () => {
    const given = (...addresses: string[]) => {
      const buckets = new Buckets(perSecond);
      return addresses.filter((address) => buckets.take(networkOf(address), 0) === 0).length;
    };
    const from = (network: (n: number) => string) =>
      given(...Array.from({ length: 256 }, (_, n) => `2001:db8:1:${network(n)}::1`));
    expect([from((n) => n.toString(16)), from((n) => (256 * n).toString(16))]).toEqual([6, 12]);
  });

  test('a clock that steps back makes nobody wait for longer than a period', () => {
    const buckets = new Buckets(perSecond);
    for (let i = 0; i < 4; i++) buckets.take('a', 86_400_000);
    expect(Math.ceil(buckets.take('a', 0))).toBe(334);
    expect(buckets.take('a', 1000)).toBe(0);
  });

  test('within any period nobody gets more than twice the rate, however they ask', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.constantFrom(1000, 60_000),
        fc.array(fc.tuple(fc.nat(500), fc.nat(50)), { maxLength: 100 }),
        (requests, milliseconds, asked) => {
          const buckets = new Buckets({ requests, milliseconds });
          let now = 0;
          const given: number[] = [];
          for (const [pause, count] of asked) {
            now += pause;
            for (let i = 0; i < count; i++) if (buckets.take('a', now) === 0) given.push(now);
          }
          const within = (from: number) => given.filter((at) => at >= from && at < from + milliseconds).length;
          for (const from of new Set(given)) expect(within(from)).toBeLessThanOrEqual(2 * requests);
        },
      ),
    );
  });
});

test('memory does not grow with the number of addresses, nor keep those that may ask as before', () => {
  const buckets = new Buckets({ requests: 1, milliseconds: 1000 }, 100);
  for (let i = 0; i < 5000; i++) buckets.take(`10.0.${i >> 8}.${i & 255}`, i);
  expect(buckets.size).toBe(100);
  buckets.take('192.0.2.1', 10_000);
  expect(buckets.size).toBe(1);
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::1', '0:0:0:0'],
  ['2001:DB8::1', '2001:db8:0:0'],
  ['2001:db8:0001:02:3:4:5:6', '2001:db8:1:2'],
  ['64:ff9b::192.0.2.1', '192.0.2.1'],
  ['64:ff9b::1:c000:201', '64:ff9b:0:0'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::192.0.2.1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
])('%j belongs to the network %j', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

describe('the service', () => {
  let service: TestService;
  const serving = async (settings: Partial<ServiceSettings>) => {
    service = await opened(settings);
  };
  /** One request from that address; nothing stands for a socket that has none. */
  const from = (ip: string | undefined, path: string, how?: Call) =>
    call({ fetch: async (request) => service.service.app(request, { ip }) }, 'GET', path, how);
  const statuses = async (count: number, ip: string | undefined, how?: Call) => {
    const all: Record<number, number> = {};
    for (let i = 0; i < count; i++) {
      const { status } = await from(ip, '/api/v2/version', how);
      all[status] = (all[status] ?? 0) + 1;
    }
    return all;
  };
  const once = { requests: 1, milliseconds: 60_000 };

  test('refuses with 429, in JSON or on a page, and says when to try again', async () => {
    await serving({ rateLimit: once });
    const file = await service.createWithFiles(filePart('a.txt', 'A'));
    await from('192.0.2.1', '/api/v2/version');
    service.clock.advance(20_500);
    const apis = ['/api/v2/version', '/api/v2/pushes/x', `/p/${file}.json`, '/files/x'];
    const pages = ['/', `/p/${file}`, '/p/neverwas', '/nowhere'];
    for (const path of [...apis, ...pages]) {
      const { status, headers, json } = await from('192.0.2.1', path);
      expect([path, status, headers.get('retry-after')]).toEqual([path, 429, '40']);
      if (apis.includes(path)) expect(Object.keys(json)).toEqual(['error']);
      else expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    }
    service.clock.advance(39_500);
    expect((await from('192.0.2.1', '/api/v2/version')).status).toBe(200);
  });

  test('counts a token’s owner as anybody, and asks the database nothing for who is refused', async () => {
    await serving({ rateLimit: once });
    // Health checks are not counted.
    for (let i = 0; i < 5; i++) expect((await from('192.0.2.1', '/up')).status).toBe(200);
    expect(await statuses(1, '192.0.2.1', service.asAdmin)).toEqual({ 200: 1 });
    await service.close();
    expect(await statuses(5, '192.0.2.1', service.asAdmin)).toEqual({ 429: 5 });
  });

  test('by default takes 100 a second from elsewhere, and any number from this machine', async () => {
    await serving({});
    expect(await statuses(101, '192.0.2.1')).toEqual({ 200: 100, 429: 1 });
    for (const ip of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1', undefined])
      expect(await statuses(101, ip)).toEqual({ 200: 101 });
  });

  test('a rate that is given counts for this machine too, `off` for nobody', async () => {
    await serving({ rateLimit: once });
    for (const ip of ['127.0.0.1', '::1', undefined]) expect(await statuses(2, ip)).toEqual({ 200: 1, 429: 1 });
    await serving({ rateLimit: 'off' });
    expect(await statuses(200, '192.0.2.1')).toEqual({ 200: 200 });
  });

  test('X-Forwarded-For gets nobody a bucket of their own, unless a proxy is trusted', async () => {
    const asked = async (ip: string, list: string) =>
      (await from(ip, '/api/v2/version', { headers: { 'x-forwarded-for': list } })).status;
    await serving({ rateLimit: once });
    expect(await asked('192.0.2.1', '203.0.113.1')).toBe(200);
    expect(await asked('192.0.2.1', '203.0.113.2')).toBe(429);
    await serving({ rateLimit: once, trustProxy: true });
    expect(await asked('127.0.0.1', '1.1.1.1, 203.0.113.1')).toBe(200);
    expect(await asked('127.0.0.1', '2.2.2.2, 203.0.113.1')).toBe(429);
    expect(await asked('127.0.0.1', '203.0.113.1, 203.0.113.2')).toBe(200);
    // Its clients are not this machine.
    await serving({ trustProxy: true });
    const headers = { 'x-forwarded-for': '203.0.113.1' };
    expect(await statuses(101, '127.0.0.1', { headers })).toEqual({ 200: 100, 429: 1 });
  });
});

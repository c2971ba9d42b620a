import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { undiciTransport } from '../../../src/client/transport/undici';
import type { ServiceIo } from '../../../src/server/service-settings';
import { ExchangeRefusal } from '../../../src/server/trust/identity-token';
import { reachOf } from '../../../src/server/trust/issuer-address';
import { IssuerKeys } from '../../../src/server/trust/issuer-keys';
import { deferred } from '../../helpers/deferred';
import { issuer, type TestIssuer } from '../../helpers/issuer';
import { listen } from '../../helpers/listen';
import { folders } from '../../helpers/memory';
import { testClock, transport } from '../../helpers/service';
import { proxying } from '../../helpers/sockets';
import { cert, key } from '../certificate';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Keys by a clock of their own, as a service has them; the time allowed is none of the test unless it says so. */
function keysOf(settings: { limit?: number; env?: ServiceIo['env']; transport?: ServiceIo['transport'] } = {}) {
  const clock = testClock();
  const keys = new IssuerKeys({ now: clock.now, transport, env: {}, limit: 30_000, ...settings });
  /** Has the IDs of the keys, or why there are none. */
  const find = async (from: Pick<TestIssuer, 'url'>, kid?: string, private_issuer = false) => {
    const found = await keys.find({ issuer: from.url, private_issuer }, kid).catch((error: unknown) => error);
    if (!(found instanceof ExchangeRefusal)) return (found as { keys: { kid: string }[] }).keys.map((one) => one.kid);
    return { outcome: found.outcome, reason: found.message, ...found.details };
  };
  return { clock, find };
}

const unknown = { outcome: 'signature', reason: 'the issuer does not have the key of the token' };
const awayFor = (retryAfter: number) => expect.objectContaining({ outcome: 'unavailable', retryAfter });

test.each([
  [0, 60],
  [600, 600],
  [86_400, 3600],
])('keys with max-age=%s are kept for %s seconds', async (maxAge, seconds) => {
  const from = await issuer();
  const { clock, find } = keysOf();
  from.setMaxAge(maxAge);
  expect(await find(from, 'key-0')).toEqual(['key-0']);
  clock.advance(seconds * SECOND - 1);
  await find(from, 'key-0');
  expect(from.seen).toEqual([`GET ${from.CONFIGURATION}`, 'GET /keys']);
  clock.advance(1);
  await find(from, 'key-0');
  expect(from.seen.length).toBe(4);
});

test('an unknown key has the keys fetched at once after a fetch, and then once a minute', async () => {
  const from = await issuer();
  const { clock, find } = keysOf();
  await find(from, 'key-0');
  from.rotate();
  expect(await find(from, 'key-1')).toEqual(['key-1']);
  expect(from.seen.length).toBe(4);
  from.rotate();
  expect(await find(from, 'key-2')).toEqual(unknown);
  clock.advance(MINUTE - 1);
  expect(await find(from, 'key-2')).toEqual(unknown);
  expect(from.seen.length).toBe(4);
  clock.advance(1);
  expect(await find(from, 'key-2')).toEqual(['key-2']);
  expect(from.seen.length).toBe(6);
});

test('while an issuer is away its known keys are good for a day, and others are not found', async () => {
  const from = await issuer();
  const { clock, find } = keysOf();
  await find(from, 'key-0');
  from.answers.set(from.CONFIGURATION, (_, response) => void response.writeHead(500).end());
  expect(await find(from, 'key-1')).toEqual({
    outcome: 'unavailable',
    reason: `no keys of ${from.url}: its configuration has status 500`,
    retryAfter: 60,
  });
  clock.advance(MINUTE - SECOND);
  expect(await find(from, 'key-1')).toEqual(awayFor(1));
  expect(from.seen.length).toBe(3);
  clock.advance(DAY - MINUTE);
  expect(await find(from, 'key-0')).toEqual(['key-0']);
  expect(await find(from, 'key-1')).toEqual(awayFor(60));
  expect(from.seen.length).toBe(4);
  clock.advance(SECOND);
  expect(await find(from, 'key-0')).toEqual(awayFor(59));
  clock.advance(MINUTE);
  from.answers.clear();
  expect(await find(from, 'key-0')).toEqual(['key-0']);
});

test('one fetch is for all who wait for it, and nobody else waits', async () => {
  const [slow, quick] = [await issuer(), await issuer()];
  const { find } = keysOf();
  await find(slow, 'key-0');
  const [asked, held] = [deferred<void>(), deferred<void>()];
  slow.answers.set(slow.CONFIGURATION, async (_, response) => {
    asked.resolve();
    await held.promise;
    response.end(JSON.stringify({ issuer: slow.url, jwks_uri: `${slow.url}/keys` }));
  });
  slow.rotate();
  const waiting = [find(slow, 'key-1'), find(slow, 'key-1')];
  await asked.promise;
  expect(await find(slow, 'key-0')).toEqual(['key-0']);
  expect(await find(quick, 'key-0')).toEqual(['key-0']);
  held.resolve();
  expect(await Promise.all(waiting)).toEqual([['key-1'], ['key-1']]);
  expect(slow.seen.length).toBe(4);
});

test('while an issuer is away, nobody waits for it whose key is known', async () => {
  const from = await issuer();
  const { clock, find } = keysOf();
  await find(from, 'key-0');
  from.answers.set(from.CONFIGURATION, (_, response) => void response.writeHead(500).end());
  clock.advance(HOUR);
  expect(await find(from, 'key-0')).toEqual(['key-0']);
  clock.advance(MINUTE);
  const [asked, held] = [deferred<void>(), deferred<void>()];
  from.answers.set(from.CONFIGURATION, async (_, response) => {
    asked.resolve();
    await held.promise;
    response.end(JSON.stringify({ issuer: from.url, jwks_uri: `${from.url}/keys` }));
  });
  expect(await find(from, 'key-0')).toEqual(['key-0']);
  await asked.promise;
  from.rotate();
  const waiting = find(from, 'key-1');
  held.resolve();
  expect(await waiting).toEqual(['key-1']);
  expect(await find(from, 'key-0')).toEqual(unknown);
});

test('an issuer that does not answer in time is away', async () => {
  const from = await issuer();
  from.answers.set('/keys', () => {});
  const { find } = keysOf({ limit: 100 });
  const reason = `no keys of ${from.url}: no response within 0.1 s`;
  expect(await find(from, 'key-0')).toEqual({ outcome: 'unavailable', reason, retryAfter: 60 });
});

test('an issuer that nobody listens for is away', async () => {
  const from = await issuer();
  await from.leave();
  const reason = `no keys of ${from.url}: unreachable (ECONNREFUSED)`;
  expect(await keysOf().find(from)).toEqual({ outcome: 'unavailable', reason, retryAfter: 60 });
});

describe('an answer that is not taken', () => {
  type Body = (from: TestIssuer) => unknown;
  const configuration = (changes: object) => (from: TestIssuer) => ({
    issuer: from.url,
    jwks_uri: `${from.url}/keys`,
    ...changes,
  });
  const rows: [string, 'CONFIGURATION' | '/keys', Body, string][] = [
    [
      'of another issuer',
      'CONFIGURATION',
      configuration({ issuer: 'https://issuer.test' }),
      'its configuration names another issuer',
    ],
    [
      'that names no keys',
      'CONFIGURATION',
      configuration({ jwks_uri: 1 }),
      'the address of its key set is not allowed',
    ],
    [
      'with keys over http',
      'CONFIGURATION',
      configuration({ jwks_uri: 'http://issuer.test/' }),
      'the address of its key set is not allowed',
    ],
    [
      'with keys in a private network',
      'CONFIGURATION',
      configuration({ jwks_uri: 'https://10.0.0.1/' }),
      'the address of its key set is not allowed',
    ],
    [
      'of 64 KiB and a byte',
      '/keys',
      () => ({ keys: [], more: 'x'.repeat(64 * 1024 - 20) }),
      'its key set is larger than 64 KiB',
    ],
    ['that is no object', '/keys', () => [], 'its key set is no JSON object'],
    ['whose keys are no list', '/keys', () => ({ keys: {} }), 'its key set is not valid'],
    ['whose keys are no objects', '/keys', () => ({ keys: [1] }), 'its key set is not valid'],
  ];
  test.each(rows)('%s', async (_, path, body, reason) => {
    const from = await issuer();
    const text = JSON.stringify(body(from));
    from.answers.set(path === '/keys' ? path : from.CONFIGURATION, (_request, response) => void response.end(text));
    expect(await keysOf().find(from)).toMatchObject({ reason: `no keys of ${from.url}: ${reason}` });
  });

  test.each(['CONFIGURATION', '/keys'] as const)('that redirects %s', async (name) => {
    const [from, other] = [await issuer(), await issuer()];
    const path = name === '/keys' ? name : from.CONFIGURATION;
    from.answers.set(path, (_, response) => void response.writeHead(302, { location: other.url + path }).end());
    expect(await keysOf().find(from)).toMatchObject({ reason: expect.stringMatching(/ has status 302$/) });
    expect(other.seen).toEqual([]);
  });
});

test('an issuer whose name leads into a private network is away', async () => {
  const from = await issuer();
  const refusing: ServiceIo['transport'] = async (settings) => undiciTransport({ ...settings, refuses: () => true });
  const reason = `no keys of ${from.url}: an address of it is in a private network`;
  expect(await keysOf({ transport: refusing }).find(from)).toMatchObject({ outcome: 'unavailable', reason });
});

test('keys may be on another host', async () => {
  const [from, other] = [await issuer(), await issuer()];
  other.rotate();
  const body = JSON.stringify({ issuer: from.url, jwks_uri: `${other.url}/keys` });
  from.answers.set(from.CONFIGURATION, (_, response) => void response.end(body));
  expect(await keysOf().find(from)).toEqual(['key-1']);
});

test('what a private issuer gave is not for trusts that allow none', async () => {
  const from = await issuer();
  const { find } = keysOf();
  await find(from, 'key-0', true);
  await find(from, 'key-0', false);
  expect(from.seen.length).toBe(4);
});

test('the proxy of the environment is asked, and its authorities are trusted', async () => {
  const from = await issuer({ name: 'https://proxied.test', tls: { cert, key } });
  const proxy = await proxying(from.port);
  const SSL_CERT_FILE = join(await folders()(), 'ca.pem');
  writeFileSync(SSL_CERT_FILE, cert);
  const { find } = keysOf({ env: { HTTPS_PROXY: proxy.url, SSL_CERT_FILE } });
  expect(await find(from)).toEqual(['key-0']);
  expect(new Set(proxy.seen)).toEqual(new Set(['CONNECT proxied.test:443']));
});

test('a connection to an address that is refused is given up before anything is sent', async () => {
  const received: Promise<Buffer>[] = [];
  const { port } = await listen(createServer((socket) => void received.push(buffer(socket))));
  const asked: string[] = [];
  const refuses = (address: string) => asked.push(address) > 0;
  const { send, close } = undiciTransport({ timeout: 30, env: {}, refuses });
  for (const scheme of ['http', 'https']) {
    const url = `${scheme}://127.0.0.1:${port}/`;
    const error = await send({ method: 'GET', url, headers: {} }).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'unreachable', cause: { code: 'ADDRESS_REFUSED' } });
  }
  await close();
  expect(asked).toEqual(['127.0.0.1', '127.0.0.1']);
  expect((await Promise.all(received)).map(String)).toEqual(['', '']);
});

test('keys are fetched over TLS from an address that is allowed', async () => {
  const from = await issuer({ tls: { cert, key } });
  const url = from.url.replace('http:', 'https:');
  const configuration = JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` });
  from.answers.set(from.CONFIGURATION, (_, response) => void response.end(configuration));
  const SSL_CERT_FILE = join(await folders()(), 'ca.pem');
  writeFileSync(SSL_CERT_FILE, cert);
  expect(await keysOf({ env: { SSL_CERT_FILE } }).find({ url })).toEqual(['key-0']);
});

describe('where an issuer and its keys may be', () => {
  const [PUBLIC, HERE, PRIVATE] = [
    reachOf({ issuer: 'https://issuer.test', private_issuer: false }),
    reachOf({ issuer: 'http://localhost:8080', private_issuer: false }),
    reachOf({ issuer: 'https://issuer.test', private_issuer: true }),
  ];
  test.each([
    ['https://issuer.test/a', true, true, true],
    ['https://8.8.8.8/', true, true, true],
    ['http://issuer.test/', false, false, false],
    ['http://localhost/', false, true, true],
    ['https://[::1]/', false, true, true],
    ['https://10.1.2.3/', false, false, true],
    ['http://10.1.2.3/', false, false, false],
    ['https://[fd00::1]/', false, false, true],
    ['https://0xa9fea9fe/', false, false, true],
    ['https://u:p@issuer.test/', false, false, false],
    ['file:///etc/passwd', false, false, false],
  ])('%s', (url, ...wanted) => {
    expect([PUBLIC, HERE, PRIVATE].map(({ allowed }) => allowed(url) !== undefined)).toEqual(wanted);
  });

  test.each([
    ['8.8.8.8', false, false],
    ['2606:4700::1', false, false],
    ['64:ff9b::8.8.8.8', false, false],
    ['::ffff:8.8.8.8', false, false],
    ['127.0.0.1', true, false],
    ['::1', true, false],
    ['0.0.0.0', true, true],
    ['10.0.0.1', true, true],
    ['::ffff:10.0.0.1', true, true],
    ['::ffff:a00:1', true, true],
    ['64:ff9b::10.0.0.1', true, true],
    ['100.64.0.1', true, true],
    ['169.254.169.254', true, true],
    ['172.31.255.255', true, true],
    ['192.168.1.1', true, true],
    ['2002:a00:1::', true, true],
    ['fd00::1', true, true],
    ['fe80::1%eth0', true, true],
    ['', true, true],
  ])('a connection to "%s"', (address, ...refused) => {
    expect([PUBLIC, HERE].map(({ refuses }) => refuses(address))).toEqual(refused);
    expect(PRIVATE.refuses(address)).toBe(false);
  });
});

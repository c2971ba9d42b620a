import { writeFileSync } from 'node:fs';
import type { TlsOptions } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { phrase } from '../../../src/platform/errors';
import { type Listening, listening } from '../../helpers/listen';
import { VERSION } from '../../helpers/reference';
import { place } from '../../helpers/run';
import { failingAt, overSocket, proxying } from '../../helpers/sockets';
import {
  cert,
  earlierCa,
  expiredCa,
  issuedCert,
  issuedKey,
  issuingCa,
  key,
  nextCert,
  renewedCa,
  renewedCert,
  sha1Cert,
} from '../../server/certificate';

let server: Listening;
beforeEach(async () => {
  server = await listening(
    (_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(VERSION);
    },
    { key, cert },
  );
});

const version = (host: string, argv: string[] = [], env: Record<string, string> = {}) =>
  overSocket(['version', '--url', `https://${host}:${server.port}`, ...argv], { env });

test('a self-signed certificate is refused; nothing is sent', async () => {
  const host = `localhost:${server.port}`;
  expect(await failingAt(`https://${host}`)).toMatchObject({
    code: 'unreachable',
    facts: [phrase('unreachable', host, phrase('certificate-self-signed'))],
    hints: [phrase('trust-certificate')],
  });
  const { hints } = await failingAt(`https://${host}`, { ca: nextCert });
  expect([hints, server.seen]).toEqual([[phrase('complete-chain')], []]);
});

test('a certificate is accepted with its CA, by option and by variable', async () => {
  const certificate = place().file('cert.pem');
  writeFileSync(certificate, cert);
  const byOption = await version('localhost', ['--ca-file', certificate]);
  const byVariable = await version('localhost', [], { PWPUSH_CA_FILE: certificate });
  for (const outcome of [byOption, byVariable]) expect(outcome).toMatchObject({ code: 0, stderr: '' });
});

test('the CAs of the system are taken too: of SSL_CERT_FILE, also through a proxy', async () => {
  const SSL_CERT_FILE = place().file('system.pem');
  writeFileSync(SSL_CERT_FILE, cert);
  const { url } = await proxying(server.port);
  const proxied = await version('localhost.test', [], { SSL_CERT_FILE, HTTPS_PROXY: url });
  expect((await version('localhost', [], { SSL_CERT_FILE })).code).toBe(0);
  // The certificate is for another name, but trusted.
  expect(proxied.stderr).toContain('its certificate is for another name');
  writeFileSync(SSL_CERT_FILE, 'nothing');
  const { stderr } = await version('localhost', [], { SSL_CERT_FILE });
  expect(stderr).toContain('its certificate is self-signed');
  expect(server.seen).toEqual(['GET /api/v2/version']);
});

/** A server whose certificate comes from a CA that is no root. */
const issued = (options: TlsOptions = {}) =>
  listening((_request, response) => response.end(VERSION), { cert: issuedCert, key: issuedKey, ...options });

test.each(['PWPUSH_CA_FILE', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'])(
  'a CA that is no root is trusted as such, and so is the certificate itself: %s',
  async (variable) => {
    const { port, seen } = await issued();
    const argv = ['version', '--url', `https://localhost:${port}`];
    for (const pem of [issuingCa, issuedCert]) {
      const file = place().file('ca.pem');
      writeFileSync(file, pem);
      const env = { SSL_CERT_FILE: '/dev/null', [variable]: file };
      expect(await overSocket(argv, { env })).toMatchObject({ code: 0, stderr: '' });
    }
    expect(seen.length).toBe(2);
  },
);

test.each([
  ['is of another', { cert: issuedCert }, nextCert, issuingCa],
  ['has another key now', { cert: renewedCert }, earlierCa, renewedCa],
  ['has ended', { cert: renewedCert }, expiredCa, renewedCa],
] as const)('the others are taken too if the CA of the user %s', async (_why, options, named, system) => {
  const { port, seen } = await issued(options);
  const [PWPUSH_CA_FILE, SSL_CERT_FILE] = [place().file('ca.pem'), place().file('system.pem')];
  writeFileSync(PWPUSH_CA_FILE, named);
  writeFileSync(SSL_CERT_FILE, system);
  const argv = ['version', '--url', `https://localhost:${port}`];
  expect(await overSocket(argv, { env: { PWPUSH_CA_FILE, SSL_CERT_FILE } })).toMatchObject({ code: 0, stderr: '' });
  expect(seen.length).toBe(1);
});

test.each([
  ['speaks no TLS of today', { maxVersion: 'TLSv1.1', minVersion: 'TLSv1' }, 'tls-too-old'],
  ['has a certificate by SHA-1', { cert: sha1Cert }, 'certificate-weak'],
] as const)('a server that %s is told in words', async (_how, options, fact) => {
  const { port } = await issued({ ciphers: 'DEFAULT@SECLEVEL=0', ...options });
  const host = `localhost:${port}`;
  expect(await failingAt(`https://${host}`, { ca: issuingCa })).toMatchObject({
    code: 'unreachable',
    facts: [phrase('unreachable', host, phrase(fact))],
    hints: [phrase('update-server')],
  });
});

test.each([
  ['indented', cert.replaceAll(/^/gm, '  ')],
  ['on one line', cert.replaceAll('\n', ' ')],
  ['with \\n for line ends', cert.trim().replaceAll('\n', '\\n')],
  ['behind others', `# Főtanúsítvány\n${nextCert}\r\n${key}${cert}`],
])('a CA file that is written otherwise is read: %s', async (_how, text) => {
  const path = place().file('cert.pem');
  writeFileSync(path, text);
  expect(await version('localhost', ['--ca-file', path])).toMatchObject({ code: 0, stderr: '' });
});

test.each([
  ['is damaged', cert.replace(/\n.{8}/, '\n')],
  ['is damaged', `${cert}-----BEGIN CERTIFICATE-----`],
  ['contains no PEM certificate', key],
])('a CA file that %s is refused', async (why, text) => {
  const path = place().file('cert.pem');
  writeFileSync(path, text);
  const { code, stderr } = await version('localhost', ['--ca-file', path]);
  expect([code, server.seen]).toEqual([2, []]);
  expect(stderr).toContain(why);
});

test('a certificate for another name is refused even with its CA', async () => {
  const host = `pw.localhost:${server.port}`;
  expect((await failingAt(`https://${host}`, { ca: cert })).facts).toEqual([
    phrase('unreachable', host, phrase('certificate-of-another')),
  ]);
});

test('--insecure takes any, and warns each time', async () => {
  const { code, stderr } = await version('pw.localhost', ['--insecure', '--quiet']);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^warning: insecure: .*\n$/)]);
});

test.each(['http', 'https'])(
  'trust in an instance is not for its proxy, which would get a password: %s',
  async (scheme) => {
    const proxy = await proxying(server.port, { key, cert });
    const SSL_CERT_FILE = place().file('cert.pem');
    writeFileSync(SSL_CERT_FILE, cert);
    const variable = `${scheme.toUpperCase()}_PROXY`;
    const env = { [variable]: `https://ann:s3cret@localhost:${proxy.port}` };
    const argv = ['version', '--url', `${scheme}://pw.test`, '--insecure'];
    const refused = await overSocket([...argv, '--ca-file', SSL_CERT_FILE], { env });
    expect(refused).toMatchObject({
      code: 9,
      stderr: expect.stringMatching(/its certificate is self-signed\nhint: .*NODE_EXTRA_CA_CERTS/),
    });
    expect(proxy.seen).toEqual([]);
    const accepted = await overSocket(argv, { env: { ...env, SSL_CERT_FILE } });
    expect([accepted.code, proxy.headers.length]).toEqual([0, 1]);
    expect(proxy.headers[0]?.['proxy-authorization']).toBe('Basic YW5uOnMzY3JldA==');
  },
);

test('nor for another origin, such as that of files', async () => {
  const url = `https://localhost:${server.port}`;
  for (const [origin, code] of [
    ['https://pw.test', 'unreachable'],
    [url, 'unknown'],
  ] as const)
    expect(await failingAt(url, { instance: { origin, insecure: true } })).toMatchObject({ code });
});

describe('NODE_TLS_REJECT_UNAUTHORIZED=0 of the environment is not obeyed', () => {
  afterEach(() => void vi.unstubAllEnvs());

  test.each([
    ['by a request', 'localhost', async () => undefined],
    ['through the tunnel of a proxy', 'pw.test', async () => (await proxying(server.port)).url],
    ['to a proxy over TLS', 'pw.test', async () => `https://localhost:${server.port}`],
  ])('%s', async (_how, host, proxy) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const env = { HTTPS_PROXY: await proxy() };
    const { facts } = await failingAt(`https://${host}:${server.port}`, { env });
    const why = phrase('certificate-self-signed');
    expect([JSON.stringify(facts), server.seen]).toEqual([expect.stringContaining(JSON.stringify(why)), []]);
  });

  test('through a proxy that forwards plain http', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const env = { HTTP_PROXY: `https://localhost:${server.port}` };
    const { code } = await overSocket(['version', '--url', 'http://pw.test'], { env });
    expect([code, server.seen]).toEqual([9, []]);
  });

  test('but --insecure is', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '1');
    expect((await version('pw.localhost', ['--insecure', '--quiet'])).code).toBe(0);
  });
});

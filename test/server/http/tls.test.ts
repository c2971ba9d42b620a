import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { request as requestOpenly } from 'node:http';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { rootCertificates, type TLSSocket } from 'node:tls';
import { beforeEach, expect, test } from 'vitest';
import { tlsWarnings } from '../../../src/server/tls-pair';
import { folders } from '../../helpers/memory';
import { cert, expiredCert, expiredKey, key, nextCert, nextKey, weakCert } from '../certificate';
import { type Started, started } from '../on-sockets';

const newFolder = folders();
let folder: string;
let service: Started;

const keep = async (certificate: string, privateKey: string) => {
  await writeFile(join(folder, 'cert.pem'), certificate);
  await writeFile(join(folder, 'key.pem'), privateKey);
};

async function start(tls: boolean) {
  const pair = { tlsCert: join(folder, 'cert.pem'), tlsKey: join(folder, 'key.pem') };
  service = await started(tls ? pair : {});
}

const reloads = () => service.lines.flatMap((line) => /reload .*/.exec(line)?.[0] ?? []);

beforeEach(async () => {
  folder = await newFolder();
  await keep(cert, key);
});

/** The certificate that the service shows on this agent's connection, and the connection's own port. */
async function shown(agent: Agent): Promise<[string, number | undefined]> {
  const sent = request(`${service.url}/up`, { agent, ca: [cert, nextCert] }).end();
  const [response] = await once(sent, 'response');
  const { localPort } = response.socket as TLSSocket;
  const { fingerprint256 } = (response.socket as TLSSocket).getPeerCertificate();
  response.resume();
  await once(response, 'end');
  return [fingerprint256, localPort];
}

test.each([true, false])('browsers and links come by https where it is served: %s', async (tls) => {
  await start(tls);
  const send = tls ? request : requestOpenly;
  const how = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const sent = send(`${service.url}/api/v2/pushes`, { ...how, ...(tls ? { ca: cert } : {}) });
  sent.end('{"push":{"payload":"x"}}');
  const [response] = await once(sent, 'response');
  expect(JSON.parse(await text(response)).html_url.startsWith(`${service.url}/p/`)).toBe(true);
  expect(service.url).toMatch(tls ? /^https:/ : /^http:/);
  const { 'strict-transport-security': hsts, 'cross-origin-opener-policy': coop } = response.headers;
  expect([hsts, coop]).toEqual(tls ? ['max-age=31536000', 'same-origin'] : [undefined, undefined]);
});

const first = new X509Certificate(cert).fingerprint256;
const next = new X509Certificate(nextCert).fingerprint256;

test('new connections get the new certificate, open ones live on', async () => {
  await start(true);
  const old = new Agent({ keepAlive: true });
  const before = await shown(old);
  await keep(nextCert, nextKey);
  await Promise.all([service.reload(), service.reload()]);
  expect([before[0], await shown(old), (await shown(new Agent()))[0]]).toEqual([first, before, next]);
  expect([...service.warnings, ...reloads()]).toEqual(Array(2).fill('reload certificate=read'));
  old.destroy();
});

/** A key of another type, which OpenSSL takes for that of any certificate. */
const otherKey = (encoding = {}) =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem', ...encoding });
const encrypted = { cipher: 'aes-256-cbc', passphrase: 'x' };

const match = /cert.pem" and .*key.pem" do not match/;
const unusable: [string, () => Promise<void>, RegExp][] = [
  ['do not match', () => keep(nextCert, key), match],
  ['are of different types', () => keep(cert, `${otherKey()}`), match],
  ['are in another order', () => keep(nextCert + cert, key), match],
  ['are none', () => keep('', ''), /\/cert\.pem" is not a PEM file/],
  ['are broken', () => keep(cert.replace('MII', 'MIA'), key), /cert\.pem" has no certificate/],
  ['have a broken key', () => keep(cert, cert), /key\.pem" has no private key/],
  ['are encrypted', () => keep(cert, `${otherKey(encrypted)}`), /key\.pem" is encrypted/],
  ['are gone', () => rm(join(folder, 'key.pem')), /\/key\.pem"/],
];

test.each(unusable)('the old certificate stays where the new ones %s', async (_, spoil, why) => {
  await start(true);
  await spoil();
  await service.reload();
  expect((await shown(new Agent()))[0]).toBe(first);
  expect(service.warnings).toEqual([expect.stringMatching(why)]);
});

test.each(unusable)('it does not start where certificate and key %s', async (_, spoil, why) => {
  await spoil();
  await expect(start(true)).rejects.toThrow(why);
});

test('a byte order mark and the key in the same file do no harm, and an expired one is served with a warning', async () => {
  await keep(`\uFEFF${key}${cert}`, `\uFEFF${key}`);
  await start(true);
  expect((await shown(new Agent()))[0]).toBe(first);
  await keep(expiredCert, expiredKey);
  await service.reload();
  await started({ tlsCert: join(folder, 'cert.pem'), tlsKey: join(folder, 'key.pem') }).then((other) =>
    expect(other.warnings).toEqual(service.warnings),
  );
  expect(service.warnings).toEqual(['the TLS certificate expired on 2020-02-01']);
});

test('a certificate is served without a warning from its first moment to its last, with a key of 2048 bits', () => {
  const warningsOf = (pem: string, at: (of: X509Certificate) => number) =>
    tlsWarnings({ cert: pem, key: '' }, new Date(at(new X509Certificate(pem))));
  const bitsOf = (pem: string) => new X509Certificate(pem).publicKey.asymmetricKeyDetails?.modulusLength;
  const enough = rootCertificates.find((pem) => bitsOf(pem) === 2048) ?? '';
  const first = ({ validFrom }: X509Certificate) => Date.parse(validFrom);
  const last = ({ validTo }: X509Certificate) => Date.parse(validTo);
  expect([...warningsOf(enough, first), ...warningsOf(enough, last)]).toEqual([]);
  expect(warningsOf(enough, (of) => first(of) - 1)).toEqual([expect.stringMatching(/certificate begins on \d{4}-/)]);
  expect(warningsOf(enough, (of) => last(of) + 1)).toEqual([expect.stringMatching(/certificate expired on \d{4}-/)]);
  expect(warningsOf(weakCert, first)).toEqual(['the key of the TLS certificate has 2047 bits: 2048 are needed']);
});

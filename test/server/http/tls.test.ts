import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { request as requestOpenly } from 'node:http';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { beforeEach, expect, test } from 'vitest';
import { folders } from '../../helpers/memory';
import { cert, key, nextCert, nextKey } from '../certificate';
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

/** What was said of a reload. */
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

test.each([true, false])(
  'browsers are told to come by https alone, and links lead there, where it is served: %s',
  async (tls) => {
    await start(tls);
    const send = tls ? request : requestOpenly;
    const how = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const sent = send(`${service.url}/api/v2/pushes`, { ...how, ...(tls ? { ca: cert } : {}) });
    sent.end('{"push":{"payload":"x"}}');
    const [response] = await once(sent, 'response');
    expect(JSON.parse(await text(response)).html_url.startsWith(`${service.url}/p/`)).toBe(true);
    expect(service.url).toMatch(tls ? /^https:/ : /^http:/);
    const { 'strict-transport-security': hsts, 'cross-origin-opener-policy': coop } =
      response.headers;
    expect([hsts, coop]).toEqual(
      tls ? ['max-age=31536000', 'same-origin'] : [undefined, undefined],
    );
  },
);

const first = new X509Certificate(cert).fingerprint256;
const next = new X509Certificate(nextCert).fingerprint256;

test('new connections get the new certificate, open ones live on', async () => {
  await start(true);
  const old = new Agent({ keepAlive: true });
  const before = await shown(old);
  await keep(nextCert, nextKey);
  await Promise.all([service.reload(), service.reload()]);
  expect([before[0], await shown(old), (await shown(new Agent()))[0]]).toEqual([
    first,
    before,
    next,
  ]);
  expect([...service.warnings, ...reloads()]).toEqual(Array(2).fill('reload certificate=read'));
  old.destroy();
});

test.each([
  ['do not match', () => keep(nextCert, key), /certificate and key/],
  ['are none', () => keep('', ''), /\/cert\.pem"/],
  ['are gone', () => rm(join(folder, 'key.pem')), /\/key\.pem"/],
])('the old certificate stays where the new ones %s', async (_, spoil, why) => {
  await start(true);
  await spoil();
  await service.reload();
  expect((await shown(new Agent()))[0]).toBe(first);
  expect(service.warnings).toEqual([expect.stringMatching(why)]);
});

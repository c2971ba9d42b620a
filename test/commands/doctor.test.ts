import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { undiciTransport } from '../../src/client/transport/undici';
import { type Listens, listening } from '../helpers/listen';
import { VERSION } from '../helpers/reference';
import { eachPlace, NOW } from '../helpers/run';
import { proxying } from '../helpers/sockets';
import { cert, expiredCert, expiredKey, key } from '../server/certificate';

// What doctor tells of the way to an instance. What it finds there, and all that it prints: test/cases/doctor*.txt; what fails
// on the way: test/client/transport.

interface Made {
  readonly name: string;
  readonly status: string;
  readonly message: string;
}

let time: Date;
beforeEach(() => {
  time = NOW;
});
const here = eachPlace({ transport: undiciTransport, now: () => time });

async function opened<T extends Listens>(server: Promise<T>): Promise<T> {
  const one = await server;
  onTestFinished(one.close);
  return one;
}

/** An instance that answers as the reference does, at the hour the tests have. */
const reference: RequestListener = (_request, response) => {
  const headers = { 'content-type': 'application/json', date: NOW.toUTCString() };
  response.writeHead(200, headers).end(VERSION);
};

async function overTls(pair = { key, cert }) {
  const server = await opened(listening(reference, pair));
  writeFileSync(here.file('ca.pem'), pair.cert);
  const trust = ['--ca-file', here.file('ca.pem')];
  return { server, trust, url: ['--url', `https://localhost:${server.port}`] };
}

async function doctor(argv: string[], env: Record<string, string> = {}) {
  const { code, stdout } = await here.under({ env }).run('doctor', '--json', ...argv);
  const { checks } = JSON.parse(stdout) as { checks: Made[] };
  const failed = checks.filter(({ status }) => status === 'failed');
  const of = (name: string) => checks.find((one) => one.name === name);
  return { code, stdout, failed, of };
}

test('it names the headers for an access proxy, without values, and tells the certificate', async () => {
  const { url, trust } = await overTls();
  writeFileSync(here.file('client.pem'), key + cert);
  writeFileSync(here.file('headers'), 'X-A: s3cret\nx-b: s3cret\n', { mode: 0o600 });
  const client = ['--cert', here.file('client.pem')];
  const headers = ['--headers-file', here.file('headers')];
  const made = await doctor([...url, ...trust, ...client, ...headers]);
  expect([made.code, made.of('token')?.status]).toEqual([0, 'skipped']);
  expect(made.of('access')?.message).toMatch(/ x-a, x-b;.* 2126-10-28/);
  expect(made.stdout).not.toContain('s3cret');
  writeFileSync(here.file('client.pem'), expiredKey + expiredCert);
  const old = (await doctor([...url, ...client])).of('access');
  expect([old?.status, old?.message.includes('2020-02-01')]).toEqual(['failed', true]);
});

test.each([
  ['2126-10-14T02:54:42.000Z', 'ok'],
  ['2126-10-14T02:54:42.001Z', 'warning'],
  ['2126-10-28T02:54:42.000Z', 'warning'],
  ['2126-10-28T02:54:42.001Z', 'failed'],
])('a client certificate is a warning in the two weeks before it ends: %s, %s', async (now, status) => {
  const { url, trust } = await overTls();
  time = new Date(now);
  writeFileSync(here.file('client.pem'), key + cert);
  const { of } = await doctor([...url, ...trust, '--cert', here.file('client.pem')]);
  expect(of('access')).toMatchObject({ status, message: expect.stringContaining('2126-10-28') });
});

test('through a proxy, which is named without its password', async () => {
  const { server, trust } = await overTls();
  const proxy = await opened(proxying(server.port));
  const HTTPS_PROXY = `http://ann:s3cret@127.0.0.1:${proxy.port}`;
  const made = await doctor(['--url', 'https://proxied.test', ...trust], { HTTPS_PROXY });
  expect([made.code, made.of('proxy')?.message]).toEqual([0, `${proxy.url} (HTTPS_PROXY)`]);
  expect(made.stdout).not.toContain('s3cret');
});

test('--insecure is a warning', async () => {
  const { code, of } = await doctor([...(await overTls()).url, '--insecure']);
  expect([code, of('address')?.status]).toEqual([0, 'warning']);
});

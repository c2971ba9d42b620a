import { readFileSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { beforeEach, describe, expect, test } from 'vitest';
import { undiciTransport } from '../../../src/client/transport/undici';
import { partOf } from '../../helpers/long';
import { CREATED, changed, RETRIEVED, VERSION } from '../../helpers/reference';
import { type Place, place } from '../../helpers/run';
import { proxying } from '../../helpers/sockets';
import { socksProxy } from '../../helpers/socks';
import { cert, key } from '../../server/certificate';
import { recordingServer, type Server } from './recording-server';

// Three servers on this machine: the instance, another one on another port, and the instance over TLS. What
// each of them gets is written down: nothing but the instance may see the token.

const TOKEN = 'T0KEN-of-a-profile';

let here: Place;
let own: Server;
let other: Server;
let secure: Server;
let talk: RequestListener;

beforeEach(async () => {
  here = place({ transport: undiciTransport });
  writeFileSync(here.file('ca.pem'), cert);
  talk = answers;
  own = await recordingServer((request, response) => talk(request, response));
  other = await recordingServer(answers);
  secure = await recordingServer((request, response) => talk(request, response), { key, cert });
});

const answers: RequestListener = ({ method, url = '' }, response) => {
  response.setHeader('content-type', 'application/json');
  if (url.includes('/files/')) return void response.end('content');
  if (method === 'POST') return void response.writeHead(201).end(changed(CREATED, { passphrase: null }));
  if (/active|expired/.test(url)) return void response.end('[]');
  if (url.endsWith('/preview')) return void response.end('{"url":"http://127.0.0.1/p/abc"}');
  response.end(url.endsWith('/version') ? VERSION : RETRIEVED);
};

/** One command line of somebody whose profile is at that address, with its token and what goes along. */
async function run(line: string, url = own.url, env: Record<string, string> = {}, others = {}) {
  const profile = { url, token: TOKEN, edition: 'oss' as const, 'ca-file': here.file('ca.pem') };
  await here.keep({ current: 'own', profiles: { own: profile, ...others } });
  return here.under({ stdin: 'hunter2', env }).run(...line.split(' '));
}

const authorized = ({ got }: Server) => got.map(({ line, headers }) => [line, headers.authorization]);

const passphrase = { PWPUSH_PASSPHRASE: 'passw0rd' };
const bearer = `Bearer ${TOKEN}`;
const lines = [...['version', 'push', 'get abc', 'preview abc', 'expire abc', 'list', 'audit abc']];

describe('a redirect', () => {
  const to: Record<string, () => string> = {
    'to another port of the same host': () => `${other.url}/api/v2/version`,
    'to the same machine by another name': () => `http://localhost:${own.port}/`,
    'with our name before the host': () => other.url.replace('//', `//127.0.0.1:${own.port}@`),
    'with a user name, at home': () => own.url.replace('//', '//ann:secret@'),
    'to where no scheme is': () => other.url.slice('http:'.length),
    'spelled with backslashes': () => other.url.replace('//', '\\\\'),
  };
  const statuses = [301, 302, 303, 307, 308];
  /** All of them; a short run spreads them over the statuses. */
  const linesFor = (status: number) => partOf(lines, statuses.indexOf(status), statuses.length);

  describe.each(statuses)('%i', (status) => {
    test.each(Object.keys(to))('%s takes nothing away from the instance', async (where) => {
      talk = (_request, response) => response.writeHead(status, { location: to[where]?.() }).end();
      const tried = linesFor(status);
      for (const line of tried) {
        const { code } = await run(line, own.url, passphrase);
        expect([line, code === 0, other.got]).toEqual([line, false, []]);
      }
      // Nothing came back to it a second time, under another name.
      expect(own.got).toHaveLength(tried.length);
    });
  });

  test.each(statuses)('%d from https down to http is not followed', async (status) => {
    talk = (_request, response) => response.writeHead(status, { location: own.url }).end();
    const tried = linesFor(status);
    for (const line of tried) await run(line, secure.url, passphrase);
    expect([own.got, other.got, secure.got.length]).toEqual([[], [], tried.length]);
  });
});

test('the token of a profile stays there: another profile’s instance gets that of its own', async () => {
  writeFileSync(here.file('token'), TOKEN);
  const others = { second: { url: `${other.url}/two`, token: 'T0KEN-of-another' } };
  const tried = [
    `get ${other.url}/two/p/abc`,
    `get ${other.url}/p/abc`,
    `get ${other.url}/p/abc --token-file ${here.file('token')}`,
    `get ${other.url}/two/2/p/abc`,
    `get ${other.url}/two/p/abc --anonymous`,
    `expire ${other.url}/p/abc`,
    `preview ${other.url}/p/abc`,
    `list --url ${other.url}`,
    `get ${own.url}/one/p/abc`,
    `get ${own.url}/two/p/abc`,
  ];
  for (const line of tried) await run(line, `${own.url}/one`, {}, others);
  expect([...authorized(other), ...authorized(own)]).toEqual([
    ['GET /two/api/v2/pushes/abc', 'Bearer T0KEN-of-another'],
    ['GET /api/v2/pushes/abc', undefined],
    ['GET /api/v2/pushes/abc', undefined],
    ['GET /two/2/api/v2/pushes/abc', undefined],
    ['GET /two/api/v2/pushes/abc', undefined],
    ['DELETE /api/v2/pushes/abc', undefined],
    ['GET /api/v2/pushes/abc/preview', undefined],
    ['GET /api/v2/pushes/active?page=1', undefined],
    ['GET /one/api/v2/pushes/abc', bearer],
    ['GET /two/api/v2/pushes/abc', undefined],
  ]);
  expect(JSON.stringify(other.got)).not.toContain(TOKEN);
});

describe('a proxy', () => {
  test('of https sees neither token nor secret, and its password goes to nobody else', async () => {
    const proxy = await proxying(secure.port);
    const env = { ...passphrase, HTTPS_PROXY: `http://ann:s3cret@127.0.0.1:${proxy.port}` };
    const { code } = await run('push', `https://proxied.test:${secure.port}`, env);
    expect([code, proxy.seen]).toEqual([0, [`CONNECT proxied.test:${secure.port}`]]);
    const [{ authorization: token, 'proxy-authorization': password } = {}] = proxy.headers;
    expect([token, password]).toEqual([undefined, 'Basic YW5uOnMzY3JldA==']);
    const got = secure.got.map(({ headers }) => headers);
    expect(got.map((one) => [one.authorization, one['proxy-authorization']])).toEqual([[bearer, undefined]]);
  });

  test('of SOCKS sees neither token nor secret', async () => {
    const proxy = await socksProxy(secure.port);
    const env = { ...passphrase, ALL_PROXY: `socks5h://${proxy.host}` };
    const { code } = await run('push', `https://proxied.test:${secure.port}`, env);
    const got = secure.got.map(({ headers }) => headers.authorization);
    expect([code, proxy.seen, got]).toEqual([0, [`proxied.test ${secure.port}`], [bearer]]);
  });

  test('is never used for this machine: it sees neither token nor secret', async () => {
    const proxy = await proxying(own.port);
    const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, NO_PROXY: 'other.test' };
    const hosts = ['127.0.0.1', 'localhost', 'localhost.', 'pw.localhost', '[::ffff:127.0.0.1]'];
    for (const host of hosts) {
      const { code } = await run('push', `http://${host}:${own.port}`, env);
      expect([host, code, proxy.seen]).toEqual([host, 0, []]);
    }
    expect((await run('push', secure.url, env)).code).toBe(0);
    expect([proxy.seen, own.got.length, secure.got.length]).toEqual([[], hosts.length, 1]);
  });
});

describe('a download', () => {
  /** The instance, whose push has a file at that address. */
  const offering = (link: string, location?: string): RequestListener => {
    const files = [{ filename: 'a', content_type: 'x/y', url: link }];
    return (request, response) => {
      if (request.url === '/files/1' && location !== undefined) return void response.writeHead(302, { location }).end();
      if (request.url?.startsWith('/files/')) return void response.end('content');
      response.setHeader('content-type', 'application/json');
      response.end(changed(RETRIEVED, { files }));
    };
  };
  const get = async () => {
    const { code } = await run(`get abc --output ${here.file('out')}/ --force`);
    expect([code, readFileSync(here.file('out/a'), 'utf8')]).toEqual([0, 'content']);
  };

  test('from the instance itself has the token, and none after a redirect, even within it', async () => {
    talk = offering(`${own.url}/files/1`, `${own.url}/files/2`);
    await get();
    expect(authorized(own)).toEqual([
      ['GET /api/v2/pushes/abc', bearer],
      ['GET /files/1', bearer],
      ['GET /files/2', undefined],
    ]);
  });

  test('from elsewhere, by a link or a redirect, has neither token nor the password of its address', async () => {
    const named = other.url.replace('//', '//ann:secret@');
    talk = offering(`${own.url}/files/1`, `${named}/files/2`);
    await get();
    talk = offering(`${named}/files/3`);
    await get();
    expect(authorized(other)).toEqual([
      ['GET /files/2', undefined],
      ['GET /files/3', undefined],
    ]);
  });
});

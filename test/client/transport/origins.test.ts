import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { undiciTransport } from '../../../src/client/transport/undici';
import { type Listening, listening } from '../../helpers/listen';
import { partOf } from '../../helpers/long';
import { CREATED, changed, RETRIEVED, VERSION } from '../../helpers/reference';
import { type Place, place } from '../../helpers/run';
import { proxying } from '../../helpers/sockets';
import { cert, key } from '../../server/certificate';

// Three servers on this machine: the instance, another one on another port, and the instance over TLS. What
// each of them gets is written down: nothing but the instance may see the token.

interface Got {
  readonly line: string;
  readonly authorization: string | undefined;
  /** `Proxy-Authorization`. */
  readonly proxy: string | undefined;
  /** The secrets that stand in its line, headers or body. */
  readonly secrets: string[];
}

const secrets = {
  token: 'T0KEN-of-a-profile',
  payload: 'hunter2-the-payload',
  word: 'passw0rd-of-it',
};

interface Server extends Listening {
  readonly url: string;
  readonly got: Got[];
}

type Talk = (request: IncomingMessage, response: ServerResponse) => void;

let here: Place;
let own: Server;
let other: Server;
let secure: Server;
let talk: Talk;

beforeEach(async () => {
  here = place({ transport: undiciTransport });
  talk = answers;
  own = await server((request, response) => talk(request, response));
  other = await server(answers);
  secure = await server((request, response) => talk(request, response), { key, cert });
});

/** What an instance answers that takes everything. */
function answers({ method, url = '' }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('content-type', 'application/json');
  if (url.includes('/files/')) return void response.end('content');
  if (method === 'POST')
    return void response.writeHead(201).end(changed(CREATED, { passphrase: null }));
  if (/active|expired/.test(url)) return void response.end('[]');
  if (url.endsWith('/preview')) return void response.end('{"url":"http://127.0.0.1/p/abc"}');
  response.end(url.endsWith('/version') ? VERSION : RETRIEVED);
}

async function server(answer: Talk, tls?: { key: string; cert: string }): Promise<Server> {
  const got: Got[] = [];
  const one = await listening((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers, rawHeaders } = request;
      const all = `${method} ${url} ${rawHeaders.join(' ')} ${Buffer.concat(chunks)}`;
      const found = Object.entries(secrets).filter(([, secret]) => all.includes(secret));
      const line = `${method} ${url}`;
      got.push({
        line,
        authorization: headers.authorization,
        proxy: headers['proxy-authorization'],
        secrets: found.map(([name]) => name),
      });
      answer(request, response);
    });
  }, tls);
  onTestFinished(one.close);
  return { ...one, got, url: `${tls ? 'https' : 'http'}://127.0.0.1:${one.port}` };
}

/** One command line of somebody whose profile is at that address, with its token and what goes along. */
async function run(line: string, url = own.url, env: Record<string, string> = {}, others = {}) {
  mkdirSync(here.file('config'), { recursive: true });
  writeFileSync(here.file('ca.pem'), cert);
  const profile = { url, token: secrets.token, 'ca-file': here.file('ca.pem') };
  const stored = { current: 'own', profiles: { own: profile, ...others } };
  writeFileSync(here.file('config/config.json'), JSON.stringify(stored));
  const conditions = { stdin: secrets.payload, env };
  return here.under(conditions).run(...line.split(' '));
}

const passphrase = { PWPUSH_PASSPHRASE: secrets.word };
const bearer = `Bearer ${secrets.token}`;
const lines = [
  'version',
  'push',
  'get abc',
  'preview abc',
  'expire abc',
  'list',
  'audit abc',
  'notify abc a@b.test',
];

describe('a redirect', () => {
  const to: Record<string, () => string> = {
    'to another port of the same host': () => `${other.url}/api/v2/version`,
    'to the same machine by another name': () => `http://localhost:${own.port}/`,
    'with somebody else’s name before the host': () =>
      `http://127.0.0.1:${own.port}@${other.url.slice(7)}/`,
    'with a user name, at home': () => own.url.replace('//', '//ann:secret@'),
    'to where no scheme is': () => other.url.slice('http:'.length),
    'spelled with backslashes': () => other.url.replace('//', '\\\\'),
  };
  const statuses = [301, 302, 303, 307, 308];
  /** All of them; a short run spreads them over the statuses. */
  const linesFor = (status: number) => partOf(lines, statuses.indexOf(status), statuses.length);
  const cases = statuses.flatMap((status) =>
    Object.entries(to).map(([what, where]) => ({ status, what, where })),
  );

  test.each(cases)(
    '$status $what takes nothing away from the instance',
    async ({ status, where }) => {
      talk = (_request, response) => response.writeHead(status, { location: where() }).end();
      const tried = linesFor(status);
      for (const line of tried) {
        const { code } = await run(line, own.url, passphrase);
        expect([line, code === 0, other.got]).toEqual([line, false, []]);
      }
      // Nothing came back to it a second time, under another name.
      expect(own.got.map(({ line }) => line.split(' ')[0])).toHaveLength(tried.length);
    },
  );

  test.each(statuses)('%d from https down to http is not followed', async (status) => {
    talk = (_request, response) => response.writeHead(status, { location: own.url }).end();
    const tried = linesFor(status);
    for (const line of tried) await run(line, secure.url, passphrase);
    expect([own.got, other.got, secure.got.length]).toEqual([[], [], tried.length]);
  });
});

describe('the token of a profile stays there', () => {
  const elsewhere: Record<string, () => string> = {
    'a link of another instance': () => `get ${other.url}/p/abc`,
    'the same with --token-file': () => `get ${other.url}/p/abc --token-file TOKEN`,
    'a link below another path of the same host': () => `get ${other.url}/two/p/abc`,
    '--url': () => `list --url ${other.url}`,
    'expire of a link of another instance': () => `expire ${other.url}/p/abc`,
    'preview of one': () => `preview ${other.url}/p/abc`,
  };

  test.each(Object.entries(elsewhere))('%s', async (_what, line) => {
    writeFileSync(here.file('token'), secrets.token);
    await run(line().replace('TOKEN', here.file('token')), `${own.url}/one`);
    expect([own.got, other.got.length, other.got[0]?.authorization, other.got[0]?.secrets]).toEqual(
      [[], 1, undefined, []],
    );
  });

  test('a link of another profile’s instance gets the token of that one, and nothing else does', async () => {
    const others = { second: { url: `${other.url}/two`, token: 'T0KEN-of-another' } };
    const tried = [
      `get ${other.url}/two/p/abc`,
      `get ${other.url}/p/abc`,
      `get ${other.url}/two/2/p/abc`,
      `get ${other.url}/two/p/abc --anonymous`,
      `get ${own.url}/one/p/abc`,
      `get ${own.url}/two/p/abc`,
      `list --url ${other.url}`,
    ];
    for (const line of tried) await run(line, `${own.url}/one`, {}, others);
    const sent = ({ got }: Server) => got.map(({ line, authorization }) => [line, authorization]);
    expect([...sent(other), ...sent(own)]).toEqual([
      ['GET /two/api/v2/pushes/abc', 'Bearer T0KEN-of-another'],
      ['GET /api/v2/pushes/abc', undefined],
      ['GET /two/2/api/v2/pushes/abc', undefined],
      ['GET /two/api/v2/pushes/abc', undefined],
      ['GET /api/v2/pushes/active?page=1', undefined],
      ['GET /one/api/v2/pushes/abc', bearer],
      ['GET /two/api/v2/pushes/abc', undefined],
    ]);
  });
});

describe('a proxy', () => {
  test('of https sees neither token nor secret, and its password goes to nobody else', async () => {
    const proxy = await proxying(secure.port);
    onTestFinished(proxy.close);
    const env = { ...passphrase, HTTPS_PROXY: `http://ann:s3cret@127.0.0.1:${proxy.port}` };
    const { code } = await run('push', `https://proxied.test:${secure.port}`, env);
    expect([code, proxy.seen]).toEqual([0, [`CONNECT proxied.test:${secure.port}`]]);
    const [{ authorization: token, 'proxy-authorization': password } = {}] = proxy.headers;
    expect([token, password]).toEqual([undefined, 'Basic YW5uOnMzY3JldA==']);
    expect(secure.got.map(({ authorization, proxy }) => [authorization, proxy])).toEqual([
      [bearer, undefined],
    ]);
  });

  test('is never used for this machine: it sees neither token nor secret', async () => {
    const proxy = await proxying(own.port);
    onTestFinished(proxy.close);
    const address = `http://127.0.0.1:${proxy.port}`;
    const env = { HTTP_PROXY: address, HTTPS_PROXY: address, NO_PROXY: 'other.test' };
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
  const offering = (link: string, location?: string): Talk => {
    const files = [{ filename: 'a', content_type: 'x/y', url: link }];
    return (request, response) => {
      if (request.url === '/files/1' && location !== undefined)
        return void response.writeHead(302, { location }).end();
      if (request.url?.startsWith('/files/')) return void response.end('content');
      response.setHeader('content-type', 'application/json');
      response.end(changed(RETRIEVED, { files }));
    };
  };
  const get = async () => {
    const { code } = await run(`get abc --output ${here.file('out')}/ --force`);
    expect([code, readFileSync(here.file('out/a'), 'utf8')]).toEqual([0, 'content']);
  };
  const seenBy = (one: Server) => one.got.map(({ line, authorization }) => [line, authorization]);

  test('from the instance itself has the token, and none after a redirect, even within it', async () => {
    talk = offering(`${own.url}/files/1`, `${own.url}/files/2`);
    await get();
    expect(seenBy(own)).toEqual([
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
    expect(seenBy(other)).toEqual([
      ['GET /files/2', undefined],
      ['GET /files/3', undefined],
    ]);
  });
});

test('a link that the instance tells: one elsewhere is warned of, and one that is none fails', async () => {
  const told = async (url: string) => {
    talk = (_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ url }));
    };
    return run('preview abc');
  };
  expect(await told(`${other.url}/p/abc`)).toEqual({
    code: 0,
    stdout: `${other.url}/p/abc\n`,
    stderr: expect.stringMatching(/^warning: .*\n$/),
  });
  expect(await told('javascript:alert(1)')).toMatchObject({ code: 1, stdout: '' });
});

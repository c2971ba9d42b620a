import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { undiciTransport } from '../../src/client/transport/undici';
import { type Listens, listening, socketServer } from '../helpers/listen';
import { changed, VERSION } from '../helpers/reference';
import { eachPlace, NOW } from '../helpers/run';
import { proxying } from '../helpers/sockets';
import { cert, expiredCert, expiredKey, key } from '../server/certificate';

// What is printed: test/cases/doctor*.txt.

interface Made {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly hint?: string;
}

const here = eachPlace({ transport: undiciTransport });

async function opened<T extends Listens>(server: Promise<T>): Promise<T> {
  const one = await server;
  onTestFinished(one.close);
  return one;
}

/** An instance that answers as the reference does, at the hour the tests have. */
const reference =
  (version = VERSION, date = NOW): RequestListener =>
  (request, response) => {
    const answer = (status: number, body: string) =>
      response
        .writeHead(status, { 'content-type': 'application/json', date: date.toUTCString() })
        .end(body);
    if (request.url === '/api/v2/version') return answer(200, version);
    const good = request.headers.authorization === 'Bearer g00d';
    return good ? answer(200, '[]') : answer(401, '{"error":"invalid token"}');
  };

const serving = (answer = reference()) => opened(listening(answer));
/** An instance over TLS, and the options that trust it. */
async function overTls(pair = { key, cert }) {
  const server = await opened(listening(reference(), pair));
  writeFileSync(here.file('ca.pem'), pair.cert);
  const trust = ['--ca-file', here.file('ca.pem')];
  return { server, trust, url: ['--url', `https://localhost:${server.port}`] };
}

async function doctor(argv: string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await here.under({ env }).run('doctor', '--json', ...argv);
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Made[] };
  const failed = checks.filter(({ status }) => status === 'failed');
  const of = (name: string) => checks.find((one) => one.name === name);
  return { code, stderr, ok, checks, failed, of };
}

test.each([
  ['"pwpush"', 'pwpush serve 0.1.0, '],
  ['"other"', 'Password Pusher 0.1.0, '],
  ['7', 'Password Pusher 0.1.0, '],
])('an instance whose application is %s is called by its name: %s', async (application, name) => {
  const fields = { application: JSON.parse(application), application_version: '0.1.0' };
  const { url } = await serving(reference(changed(VERSION, fields)));
  const env = { PWPUSH_URL: url, PWPUSH_TOKEN: 'g00d' };
  expect((await doctor([], env)).of('api')?.message).toContain(name);
  const seen = here.under({ env, terminals: ['stderr'], columns: 200 });
  expect((await seen.run('login', '--no-color')).stderr).toContain(name);
});

describe('an instance where all is well', () => {
  test('nothing is created and no view taken', async () => {
    const server = await serving();
    const env = { PWPUSH_URL: server.url, PWPUSH_TOKEN: 'g00d' };
    const { code, checks } = await doctor([], env);
    expect([code, new Set(checks.map(({ status }) => status))]).toEqual([0, new Set(['ok'])]);
    expect(server.seen).toEqual(['GET /api/v2/version', 'GET /api/v2/pushes/active?page=1']);
  });

  test('it names the headers for an access proxy, without values, and tells the certificate', async () => {
    const { url, trust } = await overTls();
    writeFileSync(here.file('client.pem'), key + cert);
    writeFileSync(here.file('headers'), 'X-A: s3cret\nx-b: s3cret\n', { mode: 0o600 });
    const client = ['--cert', here.file('client.pem')];
    const made = await doctor([
      ...[...url, ...trust, ...client],
      ...['--headers-file', here.file('headers')],
    ]);
    expect([made.code, made.of('token')?.status]).toEqual([0, 'skipped']);
    expect(made.of('access')?.message).toMatch(/ x-a, x-b;.* 2126-10-28/);
    expect(JSON.stringify(made)).not.toContain('s3cret');
    writeFileSync(here.file('client.pem'), expiredKey + expiredCert);
    const old = (await doctor([...url, ...client])).of('access');
    expect([old?.status, old?.message.includes('2020-02-01')]).toEqual(['failed', true]);
  });

  test('through a proxy, which is named without its password', async () => {
    const { server, trust } = await overTls();
    const proxy = await opened(proxying(server.port));
    const HTTPS_PROXY = `http://ann:s3cret@127.0.0.1:${proxy.port}`;
    const made = await doctor(['--url', 'https://proxied.test', ...trust], { HTTPS_PROXY });
    expect([made.code, made.of('proxy')?.message]).toEqual([0, proxy.url]);
    expect(JSON.stringify(made)).not.toContain('s3cret');
  });

  test('--insecure, and a redirect at the instance, are warnings', async () => {
    const { code, of } = await doctor([...(await overTls()).url, '--insecure']);
    expect([code, of('address')?.status]).toEqual([0, 'warning']);
    const moved = await serving((request, response) => {
      const { url = '' } = request;
      if (!url.startsWith('/new/'))
        return void response.writeHead(301, { location: `/new${url}` }).end();
      request.url = url.slice('/new'.length);
      reference()(request, response);
    });
    const made = await doctor(['--url', moved.url]);
    expect([made.code, made.of('api')?.status]).toEqual([0, 'warning']);
    expect(made.of('api')?.message).toContain('301 to /new/api/v2/version');
  });
});

describe('what is wrong is found where it is', () => {
  interface World {
    readonly argv?: string[];
    readonly env?: Record<string, string>;
    /** The exit code and the check that failed. */
    readonly told: string;
    readonly said?: string;
  }
  const missing: RequestListener = (_request, response) =>
    void response.writeHead(404, { date: NOW.toUTCString() }).end('<h1>Not found</h1>');
  const at = ({ url }: Listens, env = {}) => ({ env: { PWPUSH_URL: url, ...env } });
  const behind = (HTTPS_PROXY: string) => ({
    argv: ['--url', 'https://pw.test'],
    env: { HTTPS_PROXY },
  });

  const worlds: Record<string, () => Promise<World>> = {
    'a certificate that has expired': async () => {
      const { url, trust } = await overTls({ key: expiredKey, cert: expiredCert });
      return { argv: [...url, ...trust], told: '9 api', said: 'expired' };
    },
    'a certificate for another name': async () => {
      const { server, trust } = await overTls();
      const { argv, env } = behind((await opened(proxying(server.port))).url);
      return { argv: [...argv, ...trust], env, told: '9 api', said: 'for another name' };
    },
    'an untrusted certificate': async () => {
      const { url } = await overTls();
      return { argv: url, told: '9 api', said: '--ca-file' };
    },
    'what does not speak TLS': async () => {
      const talk = socketServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
      return { argv: ['--url', `https://127.0.0.1:${(await opened(talk)).port}`], told: '9 api' };
    },
    'a name that does not resolve': async () => {
      return { argv: ['--url', 'https://no-such-host.invalid'], told: '9 api' };
    },
    'a proxy that wants a password': async () => {
      const refusing = socketServer((socket) => {
        socket.once('data', () => socket.end('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n'));
      });
      return { ...behind((await opened(refusing)).url), told: '9 api', said: 'HTTPS_PROXY' };
    },
    'a proxy variable that is none': async () => ({ ...behind('socks5://x:1'), told: '2 proxy' }),
    'no API v2 at the address': async () => ({ ...at(await serving(missing)), told: '5 api' }),
    'a redirect to another origin, which is not followed': async () => {
      const location = 'https://elsewhere.test/api/v2/version';
      const moved = await serving((_, response) => {
        response.writeHead(301, { location, date: NOW.toUTCString() }).end();
      });
      const world = at(moved, { PWPUSH_TOKEN: 'g00d' });
      return { ...world, told: '1 api', said: '--url https://elsewhere.test' };
    },
    'a token that is refused': async () => {
      return { ...at(await serving(), { PWPUSH_TOKEN: 'w0rn-out' }), told: '3 token' };
    },
    'no token where the instance makes no push without': async () => {
      const closed = changed(VERSION, { features: { anonymous_access: false } });
      return { ...at(await serving(reference(closed))), told: '3 token' };
    },
    'clocks that differ by more than a minute': async () => {
      const earlier = new Date(NOW.getTime() - 300_000);
      const server = await serving(reference(VERSION, earlier));
      return { ...at(server), told: '1 clock', said: ' 300 s ahead' };
    },
  };

  test.each(Object.entries(worlds))('%s', async (_what, world) => {
    const { argv = [], env, told, said = '' } = await world();
    const made = await doctor(argv, env);
    expect([made.code, ...made.failed.map(({ name }) => name)].join(' ')).toBe(told);
    const { message, hint } = made.failed[0] as Made;
    expect(`${message}\n${hint}`).toContain(said);
    expect(JSON.stringify(made)).not.toContain('w0rn-out');
  });

  test('what depends on it is named in one line, but for the clock of a response', async () => {
    const server = await listening(missing);
    const { checks, of } = await doctor(['--url', server.url]);
    const others = 'not checked, as api failed: ';
    expect([of('clock')?.status, of('others')?.message]).toEqual([
      'ok',
      `${others}token, features`,
    ]);
    await server.close();
    const gone = await doctor(['--url', server.url]);
    expect([gone.code, gone.failed.map(({ name }) => name)]).toEqual([9, ['api']]);
    expect(gone.of('others')?.message).toBe(`${others}clock, token, features`);
    expect([checks, gone.checks].map(({ length }) => length)).toEqual([8, 7]);
  });
});

import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { undiciTransport } from '../../src/client/transport/undici';
import { type Listens, listening, socketServer } from '../helpers/listen';
import { changed, VERSION } from '../helpers/reference';
import { NOW, type Place, place } from '../helpers/run';
import { proxying } from '../helpers/sockets';
import { cert, expiredCert, expiredKey, key } from '../server/certificate';

interface Made {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly hint?: string;
}

let here: Place;
const open: Listens[] = [];

beforeEach(() => {
  here = place({ transport: undiciTransport });
});
afterEach(async () => {
  here.close();
  for (const one of open.splice(0)) await one.close();
});

async function opened<T extends Listens>(server: Promise<T>): Promise<T> {
  const one = await server;
  open.push(one);
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

async function doctor(argv: string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await here.under({ env }).run('doctor', '--json', ...argv);
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Made[] };
  const failed = checks.filter(({ status }) => status === 'failed');
  const of = (name: string) => checks.find((one) => one.name === name);
  return { code, stderr, ok, checks, failed, of };
}

describe('an instance is called by its name', () => {
  const named = (application: string) =>
    VERSION.replace(
      '{"application_version":"2.11.4"',
      `{"application":${application},"application_version":"0.1.0"`,
    );

  test.each([
    ['"pwpush"', 'pwpush serve 0.1.0, '],
    ['"other"', 'Password Pusher 0.1.0, '],
    ['7', 'Password Pusher 0.1.0, '],
  ])('%s: %s', async (application, name) => {
    const server = await opened(listening(reference(named(application))));
    const env = { PWPUSH_URL: `http://127.0.0.1:${server.port}`, PWPUSH_TOKEN: 'g00d' };
    expect((await doctor([], env)).of('api')?.message).toContain(name);
    const login = await here
      .under({ env, terminals: ['stderr'], columns: 200 })
      .run('login', '--no-color');
    expect(login.stderr).toContain(name);
  });
});

describe('an instance where all is well', () => {
  test('nothing is created and no view taken', async () => {
    const server = await opened(listening(reference()));
    const env = { PWPUSH_URL: `http://127.0.0.1:${server.port}`, PWPUSH_TOKEN: 'g00d' };
    const { code, checks } = await doctor([], env);
    expect([code, new Set(checks.map(({ status }) => status))]).toEqual([0, new Set(['ok'])]);
    expect(server.seen).toEqual(['GET /api/v2/version', 'GET /api/v2/pushes/active?page=1']);
  });

  test('over TLS, and who may list', async () => {
    const server = await opened(listening(reference(), { key, cert }));
    const ca = here.file('ca.pem');
    writeFileSync(ca, cert);
    const made = await doctor(['--url', `https://localhost:${server.port}`, '--ca-file', ca]);
    expect([made.code, made.ok, made.failed]).toEqual([0, true, []]);
    expect(made.of('token')?.status).toBe('skipped');
  });

  test('it names the headers for an access proxy, without values, and tells the certificate', async () => {
    const server = await opened(listening(reference(), { key, cert }));
    writeFileSync(here.file('ca.pem'), cert);
    writeFileSync(here.file('client.pem'), key + cert);
    const url = ['--url', `https://localhost:${server.port}`, '--ca-file', here.file('ca.pem')];
    writeFileSync(here.file('headers'), 'X-A: s3cret\nx-b: s3cret\n', { mode: 0o600 });
    const header = ['--headers-file', here.file('headers')];
    const made = await doctor([...url, ...header, '--cert', here.file('client.pem')]);
    expect(made.code).toBe(0);
    expect(made.of('access')?.message).toMatch(/ x-a, x-b;.* 2126-10-28/);
    expect(JSON.stringify(made)).not.toContain('s3cret');
    writeFileSync(here.file('client.pem'), expiredKey + expiredCert);
    const old = await doctor([...url, '--cert', here.file('client.pem')]);
    expect(old.of('access')?.status).toBe('failed');
    expect(old.of('access')?.message).toContain('2020-02-01');
  });

  test('through a proxy, which is named without its password', async () => {
    const server = await opened(listening(reference(), { key, cert }));
    const proxy = await opened(proxying(server.port));
    const ca = here.file('ca.pem');
    writeFileSync(ca, cert);
    const address = `http://ann:s3cret@127.0.0.1:${proxy.port}`;
    const made = await doctor(['--url', 'https://proxied.test', '--ca-file', ca], {
      HTTPS_PROXY: address,
    });
    expect(made.code).toBe(0);
    expect(made.of('proxy')?.message).toBe(`http://127.0.0.1:${proxy.port}`);
    expect(JSON.stringify(made)).not.toContain('s3cret');
  });
});

describe('what is wrong is found where it is', () => {
  /** The exit status, and each check that failed with its message and hint. */
  const failing = async (argv: string[], env: Record<string, string> = {}) => {
    const { code, failed } = await doctor(argv, env);
    const said = failed.map(({ message, hint = '' }) => `${message}\n${hint}`).join('\n');
    return { told: [code, ...failed.map(({ name }) => name)], said };
  };

  test('a certificate that has expired', async () => {
    const server = await opened(listening(reference(), { key: expiredKey, cert: expiredCert }));
    const ca = here.file('ca.pem');
    writeFileSync(ca, expiredCert);
    const url = ['--url', `https://localhost:${server.port}`];
    const { told, said } = await failing([...url, '--ca-file', ca]);
    expect([told, said.includes('expired'), server.seen]).toEqual([[9, 'api'], true, []]);
  });

  test('a certificate for another name', async () => {
    const server = await opened(listening(reference(), { key, cert }));
    const proxy = await opened(proxying(server.port));
    const ca = here.file('ca.pem');
    writeFileSync(ca, cert);
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    const { told, said } = await failing(['--url', 'https://pw.test', '--ca-file', ca], env);
    expect([told, said.includes('for another name')]).toEqual([[9, 'api'], true]);
  });

  test('an untrusted certificate; with --insecure it is a warning', async () => {
    const server = await opened(listening(reference(), { key, cert }));
    const url = ['--url', `https://localhost:${server.port}`];
    const { told, said } = await failing(url);
    expect([told, said.includes('--ca-file')]).toEqual([[9, 'api'], true]);
    const { code, of } = await doctor([...url, '--insecure']);
    expect([code, of('address')?.status]).toEqual([0, 'warning']);
  });

  test('a port where nobody listens', async () => {
    const server = await listening(reference());
    await server.close();
    const { told } = await failing(['--url', `http://127.0.0.1:${server.port}`]);
    expect(told).toEqual([9, 'api']);
  });

  test('what does not speak TLS', async () => {
    const server = await opened(socketServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')));
    const { told } = await failing(['--url', `https://127.0.0.1:${server.port}`]);
    expect(told).toEqual([9, 'api']);
  });

  test('a name that does not resolve', async () => {
    expect((await failing(['--url', 'https://no-such-host.invalid'])).told).toEqual([9, 'api']);
  });

  test('a proxy that wants a password', async () => {
    const proxy = await opened(
      socketServer((socket) => {
        socket.once('data', () => socket.end('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n'));
      }),
    );
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    const { told, said } = await failing(['--url', 'https://pw.test'], env);
    expect([told, said.includes('HTTPS_PROXY')]).toEqual([[9, 'api'], true]);
  });

  test('a proxy variable that is none', async () => {
    const { told } = await failing(['--url', 'https://pw.test'], { HTTPS_PROXY: 'socks5://x:1' });
    expect(told).toEqual([2, 'proxy']);
  });

  test('a redirect to another origin, which is not followed', async () => {
    const location = 'https://elsewhere.test/api/v2/version';
    const server = await opened(
      listening((_request, response) => {
        response.writeHead(301, { location, date: NOW.toUTCString() }).end();
      }),
    );
    const env = { PWPUSH_TOKEN: 'g00d' };
    const { told, said } = await failing(['--url', `http://127.0.0.1:${server.port}`], env);
    expect([told, said.includes('--url https://elsewhere.test')]).toEqual([[1, 'api'], true]);
    expect(server.seen).toEqual(['GET /api/v2/version']);
  });

  test('a redirect at the instance is a warning', async () => {
    const at = reference();
    const server = await opened(
      listening((request, response) => {
        if (request.url?.startsWith('/new/')) {
          request.url = request.url.slice('/new'.length);
          at(request, response);
        } else response.writeHead(301, { location: `/new${request.url}` }).end();
      }),
    );
    const { code, of } = await doctor(['--url', `http://127.0.0.1:${server.port}`]);
    expect([code, of('api')?.status]).toEqual([0, 'warning']);
    expect(of('api')?.message).toContain('301 to /new/api/v2/version');
  });

  test('what depends on it is named in one line, but for the clock of a response', async () => {
    const server = await opened(
      listening((_request, response) => {
        response.writeHead(404, { date: NOW.toUTCString() }).end();
      }),
    );
    const { checks, of } = await doctor(['--url', `http://127.0.0.1:${server.port}`]);
    expect([of('clock')?.status, of('others')?.message]).toEqual([
      'ok',
      'not checked, as api failed: token, features',
    ]);
    await server.close();
    open.splice(0);
    const gone = await doctor(['--url', `http://127.0.0.1:${server.port}`]);
    expect(gone.of('others')?.message).toBe('not checked, as api failed: clock, token, features');
    expect([checks, gone.checks].map(({ length }) => length)).toEqual([8, 7]);
  });

  test('no API v2 at the address', async () => {
    const server = await opened(
      listening((_request, response) => {
        response.writeHead(404, { date: NOW.toUTCString() }).end('<h1>Not found</h1>');
      }),
    );
    const { told } = await failing(['--url', `http://127.0.0.1:${server.port}`]);
    expect(told).toEqual([5, 'api']);
  });

  test('a token that is refused, without the token', async () => {
    const server = await opened(listening(reference()));
    const env = { PWPUSH_URL: `http://127.0.0.1:${server.port}`, PWPUSH_TOKEN: 'w0rn-out' };
    const { told, said } = await failing([], env);
    expect([told, said.includes('w0rn-out')]).toEqual([[3, 'token'], false]);
  });

  test('no token where the instance makes no push without', async () => {
    const closed = changed(VERSION, { features: { anonymous_access: false } });
    const server = await opened(listening(reference(closed)));
    const { told } = await failing(['--url', `http://127.0.0.1:${server.port}`]);
    expect(told).toEqual([3, 'token']);
  });

  test('clocks that differ by more than a minute', async () => {
    const ahead = new Date(NOW.getTime() - 300_000);
    const server = await opened(listening(reference(VERSION, ahead)));
    const { told, said } = await failing(['--url', `http://127.0.0.1:${server.port}`]);
    expect([told, said.includes(' 300 s ahead')]).toEqual([[1, 'clock'], true]);
  });
});

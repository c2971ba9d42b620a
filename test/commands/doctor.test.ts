import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { undiciTransport } from '../../src/client/transport/undici';
import { changed, VERSION } from '../helpers/reference';
import { NOW, type Place, place } from '../helpers/run';
import { type Listening, listening, proxying, socketServer } from '../helpers/sockets';
import { cert, expiredCert, expiredKey, key } from '../server/certificate';

interface Made {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly hint?: string;
}

let here: Place;
const open: Listening[] = [];

beforeEach(() => {
  here = place({ transport: undiciTransport });
});
afterEach(async () => {
  here.close();
  for (const one of open.splice(0)) await one.close();
});

async function opened<T extends Listening>(server: Promise<T>): Promise<T> {
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
    ['"pwpush"', 'pwpush serve 0.1.0, API 2.1, edition oss'],
    ['"other"', 'Password Pusher 0.1.0, API 2.1, edition oss'],
    ['7', 'Password Pusher 0.1.0, API 2.1, edition oss'],
  ])('%s: %s', async (application, name) => {
    const server = await opened(listening(reference(named(application))));
    const env = { PWPUSH_URL: `http://127.0.0.1:${server.port}`, PWPUSH_TOKEN: 'g00d' };
    expect((await doctor([], env)).of('api')?.message).toBe(name);
    const login = await here
      .under({ env, terminals: ['stderr'], columns: 200 })
      .run('login', '--no-color');
    expect(login.stderr).toContain(`${name}: files`);
  });
});

describe('an instance where all is well', () => {
  test('is told line by line, with exit 0; nothing is created and no view taken', async () => {
    const server = await opened(listening(reference()));
    const url = `http://127.0.0.1:${server.port}`;
    const env = { PWPUSH_URL: url, PWPUSH_TOKEN: 'g00d' };
    expect(await here.under({ env }).run('doctor')).toEqual({
      code: 0,
      stdout: [
        `ok\tconfig\tnone yet; it will be ${here.file('config')}/config.json\t`,
        `ok\taddress\t${url}, from PWPUSH_URL\t`,
        'ok\tproxy\tnone\t',
        'ok\tdns\t127.0.0.1 is an IP address\t',
        `ok\tconnection\tconnected to 127.0.0.1 port ${server.port}\t`,
        'ok\ttls\tnot needed on loopback\t',
        'ok\tredirect\tnone\t',
        'ok\tapi\tPassword Pusher 2.11.4, API 2.1, edition oss\t',
        'ok\tclock\tin sync\t',
        'ok\ttoken\tfrom PWPUSH_TOKEN, accepted: it can list, audit and expire its pushes\t',
        'ok\tfeatures\tfiles (with a token), URL pushes, QR codes, e-mail, pushes without a token\t',
        'ok\tsqlite\tfound, for serve and --here\t',
        'ok\trescue\tno rescue files\t',
        '',
      ].join('\n'),
      stderr: '',
    });
    expect(server.seen).toEqual(['GET /api/v2/version', 'GET /api/v2/pushes/active?page=1']);
  });

  test('over TLS it tells the certificate, and who may list', async () => {
    const server = await opened(listening(reference(), { key, cert }));
    const ca = here.file('ca.pem');
    writeFileSync(ca, cert);
    const made = await doctor(['--url', `https://localhost:${server.port}`, '--ca-file', ca]);
    expect([made.code, made.ok, made.failed]).toEqual([0, true, []]);
    expect(made.of('dns')?.message).toBe('localhost is 127.0.0.1, ::1');
    expect(made.of('tls')).toEqual({
      name: 'tls',
      status: 'ok',
      message: 'TLSv1.3, certificate by localhost, valid until 2126-10-28',
    });
    expect(made.of('token')).toMatchObject({
      status: 'skipped',
      hint: 'log in with pwpush login',
    });
  });

  test('it names the headers for an access proxy, without values, and tells the certificate', async () => {
    const server = await opened(listening(reference(), { key, cert }));
    writeFileSync(here.file('ca.pem'), cert);
    writeFileSync(here.file('client.pem'), key + cert);
    const url = ['--url', `https://localhost:${server.port}`, '--ca-file', here.file('ca.pem')];
    const header = ['--header', 'X-A: s3cret', '--header', 'x-b: s3cret'];
    const made = await doctor([...url, ...header, '--cert', here.file('client.pem')]);
    expect([made.code, made.of('access')]).toEqual([
      0,
      {
        name: 'access',
        status: 'ok',
        message: 'headers x-a, x-b; client certificate valid until 2126-10-28',
      },
    ]);
    expect(JSON.stringify(made)).not.toContain('s3cret');
    writeFileSync(here.file('client.pem'), expiredKey + expiredCert);
    const old = await doctor([...url, '--cert', here.file('client.pem')]);
    expect(old.of('access')).toMatchObject({
      status: 'failed',
      message: 'the client certificate expired on 2020-02-01',
    });
  });

  test('through a proxy it is the tunnel that is tried, and the same is seen', async () => {
    const server = await opened(listening(reference(), { key, cert }));
    const proxy = await opened(proxying(server.port));
    const ca = here.file('ca.pem');
    writeFileSync(ca, cert);
    const address = `http://ann:s3cret@127.0.0.1:${proxy.port}`;
    const made = await doctor(['--url', 'https://proxied.test', '--ca-file', ca], {
      HTTPS_PROXY: address,
    });
    expect([made.code, made.of('proxy')?.message, made.of('connection')?.message]).toEqual([
      0,
      `http://127.0.0.1:${proxy.port}`,
      'connected to proxied.test through the proxy',
    ]);
    expect(JSON.stringify(made)).not.toContain('s3cret');
  });
});

describe('what is wrong is found where it is', () => {
  const failing = async (argv: string[], env: Record<string, string> = {}) => {
    const { code, failed } = await doctor(argv, env);
    return { code, failed: failed.map(({ name, message, hint }) => ({ name, message, hint })) };
  };

  test('a certificate that has expired, with its day', async () => {
    const server = await opened(listening(reference(), { key: expiredKey, cert: expiredCert }));
    const ca = here.file('ca.pem');
    writeFileSync(ca, expiredCert);
    const host = `localhost:${server.port}`;
    expect(await failing(['--url', `https://${host}`, '--ca-file', ca])).toEqual({
      code: 9,
      failed: [
        {
          name: 'tls',
          message: `${host} cannot be reached: its certificate has expired (on 2020-02-01)`,
          hint: undefined,
        },
      ],
    });
    expect(server.seen).toEqual([]);
  });

  test('a certificate for another name, with its names', async () => {
    const server = await opened(listening(reference(), { key, cert }));
    const proxy = await opened(proxying(server.port));
    const ca = here.file('ca.pem');
    writeFileSync(ca, cert);
    const outcome = await failing(['--url', 'https://pw.test', '--ca-file', ca], {
      HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
    });
    expect(outcome).toEqual({
      code: 9,
      failed: [
        {
          name: 'tls',
          message:
            'pw.test cannot be reached: its certificate is for another name (DNS:localhost, IP Address:127.0.0.1, DNS:proxied.test)',
          hint: undefined,
        },
      ],
    });
  });

  test('a certificate that nobody vouches for; with --insecure it is a warning', async () => {
    const server = await opened(listening(reference(), { key, cert }));
    const url = ['--url', `https://localhost:${server.port}`];
    expect(await failing(url)).toMatchObject({
      code: 9,
      failed: [{ name: 'tls', hint: expect.stringContaining('--ca-file') }],
    });
    const { code, of } = await doctor([...url, '--insecure']);
    expect([code, of('tls')?.status, of('tls')?.message]).toEqual([
      0,
      'warning',
      expect.stringContaining('accepted (insecure)'),
    ]);
  });

  test('a port where nobody listens', async () => {
    const server = await listening(reference());
    await server.close();
    expect(await failing(['--url', `http://127.0.0.1:${server.port}`])).toEqual({
      code: 9,
      failed: [
        {
          name: 'connection',
          message: `127.0.0.1:${server.port} cannot be reached: the connection was refused`,
          hint: 'check that the instance is running, and the port',
        },
      ],
    });
  });

  test('what does not speak TLS', async () => {
    const server = await opened(socketServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')));
    const { code, failed } = await failing(['--url', `https://127.0.0.1:${server.port}`]);
    expect([code, failed.map(({ name }) => name)]).toEqual([9, ['tls']]);
  });

  test('a name that does not resolve', async () => {
    const outcome = await failing(['--url', 'https://no-such-host.invalid']);
    expect(outcome).toMatchObject({ code: 9, failed: [{ name: 'dns' }] });
  });

  test('a proxy that wants a password', async () => {
    const proxy = await opened(
      socketServer((socket) => {
        socket.once('data', () => socket.end('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n'));
      }),
    );
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    expect(await failing(['--url', 'https://pw.test'], env)).toEqual({
      code: 9,
      failed: [
        {
          name: 'connection',
          message: 'pw.test cannot be reached: the proxy requires a user name and password',
          hint: expect.stringContaining('HTTPS_PROXY'),
        },
      ],
    });
  });

  test('a proxy variable that is none', async () => {
    const outcome = await failing(['--url', 'https://pw.test'], { HTTPS_PROXY: 'socks5://x:1' });
    expect(outcome).toMatchObject({ code: 2, failed: [{ name: 'proxy' }] });
  });

  test('a redirect to another origin, which is not followed', async () => {
    const server = await opened(
      listening((_request, response) => {
        const location = 'https://elsewhere.test/api/v2/version';
        response.writeHead(301, { location, date: NOW.toUTCString() }).end();
      }),
    );
    const url = `http://127.0.0.1:${server.port}`;
    expect(await failing(['--url', url], { PWPUSH_TOKEN: 'g00d' })).toMatchObject({
      code: 1,
      failed: [
        {
          name: 'redirect',
          message: expect.stringContaining('redirects to another origin, https://elsewhere.test'),
          hint: expect.stringContaining('--url https://elsewhere.test'),
        },
      ],
    });
    expect(server.seen).toEqual(['GET /api/v2/version']);
  });

  test('no API v2 at the address', async () => {
    const server = await opened(
      listening((_request, response) => {
        response.writeHead(404, { date: NOW.toUTCString() }).end('<h1>Not found</h1>');
      }),
    );
    expect(await failing(['--url', `http://127.0.0.1:${server.port}`])).toMatchObject({
      code: 5,
      failed: [{ name: 'api', hint: expect.stringContaining('2.4') }],
    });
  });

  test('a token that is refused, without the token', async () => {
    const server = await opened(listening(reference()));
    const url = `http://127.0.0.1:${server.port}`;
    const { code, failed, of, checks } = await doctor([], {
      PWPUSH_URL: url,
      PWPUSH_TOKEN: 'w0rn-out',
    });
    expect([code, failed.map(({ name }) => name)]).toEqual([3, ['token']]);
    expect(of('token')?.message).toContain('refused the token from PWPUSH_TOKEN');
    expect(JSON.stringify(checks)).not.toContain('w0rn-out');
  });

  test('no token where the instance makes no push without', async () => {
    const closed = changed(VERSION, { features: { anonymous_access: false } });
    const server = await opened(listening(reference(closed)));
    expect(await failing(['--url', `http://127.0.0.1:${server.port}`])).toMatchObject({
      code: 3,
      failed: [{ name: 'token' }],
    });
  });

  test('clocks that differ by more than a minute', async () => {
    const ahead = new Date(NOW.getTime() - 300_000);
    const server = await opened(listening(reference(VERSION, ahead)));
    expect(await failing(['--url', `http://127.0.0.1:${server.port}`])).toEqual({
      code: 1,
      failed: [
        {
          name: 'clock',
          message: 'this machine is 300 s ahead of the instance',
          hint: 'correct the clock that is wrong, for example with NTP',
        },
      ],
    });
  });

  test('a config file that others may read, and a rescue file', async () => {
    const server = await opened(listening(reference()));
    const url = `http://127.0.0.1:${server.port}`;
    await here.keep({ current: 'work', profiles: { work: { url } } });
    const config = join(here.file('config'), 'config.json');
    chmodSync(config, 0o644);
    mkdirSync(here.file('state'), { recursive: true });
    const rescued = join(here.file('state'), 'secret-2026-08-20T11-06-45-000Z-1f2e3d4c');
    writeFileSync(rescued, 'hunter2');
    const made = await doctor([]);
    expect(made.of('address')?.message).toBe(`${url}, from profile "work"`);
    expect([made.code, made.failed]).toMatchObject([
      1,
      [
        {
          name: 'config',
          message: `"${config}" is open to other users (mode 0644)`,
          hint: `run chmod 0600 '${config}', as it contains tokens`,
        },
      ],
    ]);
    expect(made.of('rescue')).toMatchObject({
      status: 'warning',
      message: expect.stringContaining(`${rescued} (secret)`),
    });
    expect(JSON.stringify(made)).not.toContain('hunter2');
  });
});

import type { Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { proxyFor } from '../../../src/client/transport/connect-options';
import { CliError, phrase } from '../../../src/platform/errors';
import { listening, rawServer } from '../../helpers/listen';
import { VERSION } from '../../helpers/reference';
import { overSocket, pass, proxying } from '../../helpers/sockets';

const PROXY = 'http://proxy.test:3128';
const chosen = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env)?.href;

describe('the proxy is named by the scheme', () => {
  test.each<[string, Record<string, string>, string | undefined]>([
    ['https://pw.test/', { HTTPS_PROXY: PROXY }, `${PROXY}/`],
    ['http://pw.test/', { HTTPS_PROXY: PROXY }, undefined],
    ['http://pw.test/', { HTTP_PROXY: PROXY }, `${PROXY}/`],
    ['https://pw.test/', { HTTP_PROXY: PROXY }, undefined],
    ['https://pw.test/', { https_proxy: PROXY, HTTPS_PROXY: 'http://no.test' }, `${PROXY}/`],
    ['https://pw.test/', { https_proxy: '', HTTPS_PROXY: PROXY }, `${PROXY}/`],
    ['https://pw.test/', { HTTPS_PROXY: 'proxy.test:3128' }, `${PROXY}/`],
    ['https://pw.test/', { HTTPS_PROXY: 'https://u:p@proxy.test' }, 'https://u:p@proxy.test/'],
    ['https://pw.test/', {}, undefined],
  ])('%s with %j: %s', (url, env, proxy) => {
    expect(chosen(url, env)).toBe(proxy);
  });
});

describe('NO_PROXY takes out', () => {
  test.each([
    ['https://pw.test/', '*'],
    ['https://pw.test/', 'pw.test'],
    ['https://pw.test/', 'PW.test'],
    ['https://pw.test/', 'other.test, pw.test'],
    ['https://pw.test/', 'other.test pw.test'],
    ['https://a.pw.test/', 'pw.test'],
    ['https://a.pw.test/', '.pw.test'],
    ['https://a.pw.test/', '*.pw.test'],
    ['https://pw.test/', 'pw.test:443'],
    ['https://pw.test:8443/', 'pw.test:8443'],
    ['https://[fd00::1]/', 'fd00::1'],
    ['https://[fd00::1]/', '[fd00::1]'],
    ['https://[fd00::1]:8443/', '[fd00::1]:8443'],
    ['https://10.0.0.1/', '10.0.0.1'],
  ])('%s by %s', (url, list) => {
    expect(chosen(url, { HTTPS_PROXY: PROXY, NO_PROXY: list })).toBeUndefined();
  });

  test.each([
    ['https://pw.test/', ''],
    ['https://pw.test/', 'other.test'],
    ['https://xpw.test/', 'pw.test'],
    ['https://pw.test.evil.test/', 'pw.test'],
    ['https://pw.test/', 'a.pw.test'],
    ['https://pw.test/', 'pw.test:8443'],
    ['https://pw.test:8443/', 'pw.test:443'],
  ])('not %s by %j', (url, list) => {
    expect(chosen(url, { HTTPS_PROXY: PROXY, NO_PROXY: list })).toBe(`${PROXY}/`);
  });
});

// Which hosts are this machine is told by contract/address.test.ts.
test.each([
  ...['127.9.9.9', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', 'LOCALHOST.'],
  'pw.localhost',
])('no proxy is used for %s, whatever the variables say', (host) => {
  const env = { HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY, http_proxy: PROXY, NO_PROXY: 'pw.test' };
  const wrong = { HTTP_PROXY: 'socks5://x', HTTPS_PROXY: 'socks5://x' };
  for (const scheme of ['http', 'https']) {
    expect(chosen(`${scheme}://${host}:5100/`, env)).toBeUndefined();
    expect(chosen(`${scheme}://${host}/`, wrong)).toBeUndefined();
  }
});

test('a variable that is no address is told by name, never with its value', () => {
  for (const value of ['socks5://u:s3cret@proxy.test', 'http://u:s3cret@[', '://s3cret']) {
    const error = catching(() => proxyFor(new URL('https://pw.test'), { HTTPS_PROXY: value }));
    const facts = [phrase('no-proxy-address', 'HTTPS_PROXY')];
    expect(error).toMatchObject({ code: 'usage', facts });
    expect(JSON.stringify(error)).not.toContain('s3cret');
  }
});

test('whatever the variables hold, it is a proxy, none, or bad usage', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (value, list) => {
      const error = catching(() =>
        proxyFor(new URL('https://pw.test'), { HTTPS_PROXY: value, NO_PROXY: list }),
      );
      expect(error === undefined || error instanceof CliError).toBe(true);
    }),
  );
});

function catching(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('over a socket', () => {
  async function served() {
    const server = await listening((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(VERSION);
    });
    const proxy = await proxying(server.port);
    for (const one of [server, proxy]) onTestFinished(one.close);
    return { server, proxy, url: `http://pw.test:${server.port}` };
  }

  test('a plain request goes to the proxy with its whole address, and the password with it', async () => {
    const { server, proxy, url } = await served();
    const env = { HTTP_PROXY: `http://ann:s3cret@127.0.0.1:${proxy.port}` };
    const { code, stdout } = await overSocket(['version', '--url', url], { env });
    const headers = proxy.headers.map((one) => one['proxy-authorization']);
    expect({ code, stdout, seen: server.seen, proxy: proxy.seen, headers }).toEqual({
      code: 0,
      stdout: `pwpush\t0.1.0\ninstance\t${url}\napplication\t\napi\t\nedition\tby proxy\n`,
      seen: [],
      proxy: [`GET ${url}/api/v2/version`],
      headers: ['Basic YW5uOnMzY3JldA=='],
    });
  });

  test('a proxy of this machine is found without DNS', async () => {
    const { proxy, url } = await served();
    const env = { HTTP_PROXY: `http://proxy.localhost:${proxy.port}` };
    const { code } = await overSocket(['version', '--url', url], { env });
    expect({ code, proxy: proxy.seen }).toEqual({
      code: 0,
      proxy: [`GET ${url}/api/v2/version`],
    });
  });

  test('a proxy that is not there is unreachable: nothing was sent', async () => {
    const gone = await listening(() => {});
    await gone.close();
    const env = { HTTP_PROXY: gone.url };
    const { code } = await overSocket(['push', 'hunter2', '--url', 'http://pw.test'], { env });
    expect(code).toBe(9);
  });

  // Opening a tunnel has a timer of its own, which no test moves.
  const silent = () => {};
  const refusing = (socket: Socket) => socket.end('HTTP/1.1 403 No\r\n\r\n');
  const asking = (socket: Socket) => socket.end('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n');
  const reset = 'the connection was reset';
  const cannot = 'pw.test cannot be reached: ';

  test.each<[string, string, (socket: Socket) => unknown, number, string]>([
    ['never answers', 'https', silent, 9, `${cannot}the proxy did not respond in time`],
    ['never answers', 'http', () => pass(60), 11, 'pw.test did not respond within 60 s'],
    ['hangs up', 'https', (socket) => socket.end(), 9, cannot + reset],
    ['refuses', 'https', refusing, 9, `${cannot}the proxy refused to connect to it`],
    ['wants a password', 'http', asking, 9, `${cannot}the proxy requires a user name and password`],
  ])(
    'one that %s is asked once, and told from the instance: %s',
    async (_, scheme, talk, code, message) => {
      const proxy = await rawServer(talk);
      const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, PWPUSH_EDITION: 'oss' };
      const timeout = talk === silent ? '1' : '60';
      const words = ['push', 'hunter2', '--timeout', timeout, '--url', `${scheme}://pw.test`];
      const ended = await overSocket([...words, '--anonymous', '-q', '--json'], { env });
      const { error } = JSON.parse(ended.stderr.trim().split('\n').at(-1) ?? '');
      expect([ended.code, error.message]).toEqual([code, message]);
      expect(proxy.requests.map((one) => one.split('\r\n')[0])).toEqual([
        scheme === 'https'
          ? 'CONNECT pw.test:443 HTTP/1.1'
          : 'POST http://pw.test/api/v2/pushes HTTP/1.1',
      ]);
    },
  );
});

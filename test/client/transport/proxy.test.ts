import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { proxyFor } from '../../../src/client/transport/connect-options';
import { type Fact, phrase, type Step } from '../../../src/platform/errors';
import type { FactName } from '../../../src/platform/facts';
import { listening, rawServer } from '../../helpers/listen';
import { VERSION } from '../../helpers/reference';
import { failingAt, overSocket, pass, proxying } from '../../helpers/sockets';

const PROXY = 'http://proxy.test:3128';
const chosen = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env)?.href;

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
])('the proxy is named by the scheme: %s with %j: %s', (url, env, proxy) => {
  expect(chosen(url, env)).toBe(proxy);
});

test.each([
  ['pw.test', ['*', 'pw.test', 'PW.test', 'other.test, pw.test', 'other.test pw.test']],
  ['a.pw.test', ['pw.test', '.pw.test', '*.pw.test']],
  ['pw.test', ['pw.test:443']],
  ['pw.test:8443', ['pw.test:8443']],
  ['[fd00::1]', ['fd00::1', '[fd00::1]']],
  ['[fd00::1]:8443', ['[fd00::1]:8443']],
  ['10.0.0.1', ['10.0.0.1']],
])('NO_PROXY takes out %s by any of %j', (host, lists) => {
  const proxies = lists.map((NO_PROXY) =>
    chosen(`https://${host}/`, { HTTPS_PROXY: PROXY, NO_PROXY }),
  );
  expect(proxies).toEqual(lists.map(() => undefined));
});

test.each([
  ['pw.test', ['', 'other.test', 'a.pw.test', 'pw.test:8443']],
  ['xpw.test', ['pw.test']],
  ['pw.test.evil.test', ['pw.test']],
  ['pw.test:8443', ['pw.test:443']],
])('but not %s by any of %j', (host, lists) => {
  const proxies = lists.map((NO_PROXY) =>
    chosen(`https://${host}/`, { HTTPS_PROXY: PROXY, NO_PROXY }),
  );
  expect(proxies).toEqual(lists.map(() => `${PROXY}/`));
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

function catching(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('over a socket', () => {
  /** Asks for the version through a proxy of that name, by a plain request. */
  async function forwarded(named: string) {
    const server = await listening((_request, response) => response.end(VERSION));
    const proxy = await proxying(server.port);
    const url = `http://pw.test:${server.port}`;
    const env = { HTTP_PROXY: `http://${named}:${proxy.port}` };
    const outcome = await overSocket(['version', '--url', url], { env });
    expect({ code: outcome.code, server: server.seen, proxy: proxy.seen }).toEqual({
      code: 0,
      server: [],
      proxy: [`GET ${url}/api/v2/version`],
    });
    return { stdout: outcome.stdout, url, proxy };
  }

  test('a plain request goes to the proxy with its whole address, and the password with it', async () => {
    const { stdout, url, proxy } = await forwarded('ann:s3cret@127.0.0.1');
    expect(proxy.headers[0]?.['proxy-authorization']).toBe('Basic YW5uOnMzY3JldA==');
    expect(stdout).toBe(
      `pwpush\t0.1.0\ninstance\t${url}\napplication\t\napi\t\nedition\tby proxy\n`,
    );
  });

  test('a proxy of this machine is found without DNS', async () => {
    await forwarded('proxy.localhost');
  });

  // Opening a tunnel has a timer of its own, which no test moves.
  const silent = () => {};
  const refusing = (socket: Socket) => socket.end('HTTP/1.1 403 No\r\n\r\n');
  const asking = (socket: Socket) => socket.end('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n');
  const check = phrase('check-proxy');
  const cannot = (why: FactName) => phrase('unreachable', 'pw.test', phrase(why));
  const late = phrase('no-response', 'pw.test', 60);

  test.each<[string, string, (socket: Socket) => unknown, Fact, Step]>([
    ['never answers', 'https', silent, cannot('proxy-timeout'), check],
    ['never answers', 'http', () => pass(60), late, phrase('push-may-exist')],
    ['hangs up', 'https', (socket) => socket.end(), cannot('connection-reset'), ''],
    ['refuses', 'https', refusing, cannot('proxy-refused'), ''],
    ['wants a password', 'http', asking, cannot('proxy-needs-login'), check],
    ['wants a password', 'https', asking, cannot('proxy-needs-login'), check],
  ])('one that %s is asked once, and told from the instance: %s', async (...row) => {
    const [, scheme, talk, fact, step] = row;
    const proxy = await rawServer(talk);
    const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url };
    const timeout = talk === silent ? 1 : 60;
    const { code, facts, steps } = await failingAt(`${scheme}://pw.test`, { env, timeout });
    expect([code, facts, steps]).toEqual([
      fact === late ? 'unknown' : 'unreachable',
      [fact],
      step === '' ? [] : [step],
    ]);
    expect(proxy.requests.map((one) => one.split('\r\n')[0])).toEqual([
      scheme === 'https'
        ? 'CONNECT pw.test:443 HTTP/1.1'
        : 'POST http://pw.test/api/v2/pushes HTTP/1.1',
    ]);
  });
});

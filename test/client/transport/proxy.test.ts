import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { proxyFor } from '../../../src/client/transport/connect-options';
import { proxyName } from '../../../src/client/transport/network-errors';
import { undiciTransport } from '../../../src/client/transport/undici';
import { type Fact, phrase } from '../../../src/platform/errors';
import { listening, rawServer, socketServer } from '../../helpers/listen';
import { VERSION } from '../../helpers/reference';
import { failingAt, overSocket, pass, proxying } from '../../helpers/sockets';
import { socksProxy } from '../../helpers/socks';

const PROXY = 'http://proxy.test:3128';
const chosen = (url: string, env: Record<string, string>) => {
  const proxy = proxyFor(new URL(url), env);
  return proxy && `${proxyName(proxy)} ${proxy.port} ${proxy.login.join(':')} ${proxy.variable}`;
};
const named = (variable: string) => `${PROXY} 3128 : ${variable}`;

test.each<[string, Record<string, string>, string | undefined]>([
  ['https://pw.test/', { HTTPS_PROXY: PROXY, ALL_PROXY: 'http://no.test' }, named('HTTPS_PROXY')],
  ['http://pw.test/', { HTTPS_PROXY: PROXY }, undefined],
  ['http://pw.test/', { HTTP_PROXY: PROXY }, named('HTTP_PROXY')],
  ['https://pw.test/', { HTTP_PROXY: PROXY }, undefined],
  ['https://pw.test/', { https_proxy: PROXY, HTTPS_PROXY: 'http://no' }, named('https_proxy')],
  ['https://pw.test/', { https_proxy: '', HTTPS_PROXY: PROXY }, named('HTTPS_PROXY')],
  ['https://pw.test/', { HTTPS_PROXY: 'proxy.test:3128' }, named('HTTPS_PROXY')],
  ['https://pw.test/', { HTTPS_PROXY: 'https://u%5Cv:p%40@proxy.test' }, 'https://proxy.test 443 u\\v:p@ HTTPS_PROXY'],
  ['http://pw.test/', { HTTP_PROXY: '', ALL_PROXY: PROXY }, named('ALL_PROXY')],
  ['https://pw.test/', { all_proxy: PROXY, ALL_PROXY: 'http://no.test' }, named('all_proxy')],
  ['https://pw.test/', { ALL_PROXY: 'socks5://u:p@p.test' }, 'socks5://p.test 1080 u:p ALL_PROXY'],
  ['https://pw.test/', { HTTPS_PROXY: 'SOCKS5H://p.test:80' }, 'socks5h://p.test 80 : HTTPS_PROXY'],
  ['https://pw.test/', { ALL_PROXY: 'socks://p.test:80/' }, 'socks5h://p.test 80 : ALL_PROXY'],
  ['https://pw.test/', {}, undefined],
])('the proxy is named by the scheme, or for all: %s with %j: %s', (url, env, proxy) => {
  expect(chosen(url, env)).toBe(proxy);
});

test.each([
  ['pw.test', ['*', 'pw.test', 'PW.test', 'other.test, pw.test', 'other.test pw.test']],
  ['a.pw.test', ['pw.test', '.pw.test', '*.pw.test']],
  ['pw.test', ['pw.test:443']],
  ['pw.test:8443', ['pw.test:8443']],
  ['[fd00::1]', ['fd00::1', '[fd00::1]']],
  ['[fd00::1]:8443', ['[fd00::1]:8443']],
  ['10.0.0.1', ['10.0.0.1', '10.0.0.0/8', 'a, 10.0.0.0/31', '0.0.0.0/0']],
  ['[fd00::1]:8443', ['fd00::/8', '[fd00::]/127']],
])('NO_PROXY takes out %s by any of %j', (host, lists) => {
  const proxies = lists.map((NO_PROXY) => chosen(`https://${host}/`, { HTTPS_PROXY: PROXY, NO_PROXY }));
  expect(proxies).toEqual(lists.map(() => undefined));
});

test.each([
  ['pw.test', ['', 'other.test', 'a.pw.test', 'pw.test:8443']],
  ['xpw.test', ['pw.test']],
  ['pw.test.evil.test', ['pw.test']],
  ['pw.test:8443', ['pw.test:443']],
  ['10.0.0.1', ['10.0.0.2/31', '10.0.0.0/33', '10.0.0.0/', '::/0', 'a/8', '/8', '10.0.0/8']],
  ['pw.test', ['0.0.0.0/0']],
])('but not %s by any of %j', (host, lists) => {
  const proxies = lists.map((NO_PROXY) => chosen(`https://${host}/`, { HTTPS_PROXY: PROXY, NO_PROXY }));
  expect(proxies).toEqual(lists.map(() => named('HTTPS_PROXY')));
});

// Which hosts are this machine is told by contract/address.test.ts.
test.each([...['127.9.9.9', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', 'LOCALHOST.'], 'pw.localhost'])(
  'no proxy is used for %s, whatever the variables say',
  (host) => {
    const env = { HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY, http_proxy: PROXY, NO_PROXY: 'pw.test' };
    const wrong = { HTTP_PROXY: 'socks4://x', HTTPS_PROXY: 'socks4://x', ALL_PROXY: PROXY };
    for (const scheme of ['http', 'https']) {
      expect(chosen(`${scheme}://${host}:5100/`, env)).toBeUndefined();
      expect(chosen(`${scheme}://${host}/`, wrong)).toBeUndefined();
    }
  },
);

test('a variable that is no address is told by name, never with its value', () => {
  const wrong = phrase('no-proxy-address', 'HTTPS_PROXY');
  const long = phrase('proxy-login-long', 'HTTPS_PROXY', 255);
  for (const [value, fact, step] of [
    ['socks4://u:s3cret@proxy.test', wrong, 'proxy-address'],
    ['http://u:s3cret@[', wrong, 'proxy-address'],
    ['://s3cret', wrong, 'proxy-address'],
    ['http://DOMAIN\\ann:s3cret@proxy.test', wrong, 'proxy-escapes'],
    ['http://ann:1#s3cret@proxy.test', wrong, 'proxy-escapes'],
    ['http://ann:1/s3cret@proxy.test', wrong, 'proxy-escapes'],
    ['http://ann:s3cret%@proxy.test', wrong, 'proxy-escapes'],
    [`socks5://${'s3cret'.padEnd(256, 'x')}@proxy.test`, long, undefined],
  ] as const) {
    const error = catching(() => proxyFor(new URL('https://pw.test'), { HTTPS_PROXY: value }));
    const hints = step ? [phrase(step)] : [];
    expect(error).toMatchObject({ code: 'usage', facts: [fact], hints });
    expect(JSON.stringify(error)).not.toContain('s3cret');
  }
  const longest = { HTTPS_PROXY: `socks5://${'x'.repeat(255)}@proxy.test` };
  expect(proxyFor(new URL('https://pw.test'), longest)).toMatchObject({ socks: 'socks5' });
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
    expect(stdout).toBe(`pwpush\t0.1.0\ninstance\t${url}\napplication\t\napi\t\nedition\tby proxy\n`);
  });

  test('a proxy of this machine is found without DNS', async () => {
    await forwarded('proxy.localhost');
  });

  // Opening a tunnel has a timer of its own, which no test moves.
  const silent = () => {};
  /** Begins an answer, and sends a byte of it at a time for as long as somebody listens. */
  const slow = (socket: Socket) =>
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nx: ');
      const timer = setInterval(() => socket.write('x'), 100);
      socket.once('close', () => clearInterval(timer));
    });
  const refusing = (socket: Socket) => socket.end('HTTP/1.1 403 No\r\n\r\n');
  const asking = (socket: Socket) => socket.end('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n');
  const of = (scheme: string) => `${scheme.toUpperCase()}_PROXY`;

  const gone = phrase('connection-reset');
  const answers = (code: number[]) => (socket: Socket) => socket.once('data', () => socket.end(Buffer.from(code)));

  test.each<
    [
      string,
      string,
      (socket: Socket) => unknown,
      `proxy-${'needs-login' | 'refused' | 'timeout' | 'unreachable'}`,
      ...Fact[],
    ]
  >([
    ['never answers', 'https', silent, 'proxy-timeout'],
    ['never answers', 'socks5h', silent, 'proxy-timeout'],
    ['answers a byte at a time', 'https', slow, 'proxy-timeout'],
    ['hangs up', 'https', (socket) => socket.end(), 'proxy-unreachable', gone],
    ['hangs up', 'socks5h', (socket) => socket.end(), 'proxy-refused'],
    ['refuses', 'https', refusing, 'proxy-refused'],
    ['speaks http', 'socks5h', refusing, 'proxy-refused'],
    ['wants a password', 'http', asking, 'proxy-needs-login'],
    ['wants a password', 'https', asking, 'proxy-needs-login'],
    ['wants a password', 'socks5h', answers([5, 255]), 'proxy-needs-login'],
  ])('one that %s is asked once, and told from the instance: %s', async (...row) => {
    const [, scheme, talk, why, ...more] = row;
    let asked = 0;
    const proxy = await socketServer((socket) => {
      asked++;
      socket.resume();
      talk(socket);
    });
    const socks = scheme === 'socks5h';
    const named = socks ? proxy.url.replace('http', scheme) : proxy.url;
    const variable = of(socks ? 'all' : scheme);
    const to = `${socks ? 'https' : scheme}://pw.test`;
    const timeout = talk === silent || talk === slow ? 1 : 60;
    const { code, facts, hints } = await failingAt(to, { env: { [variable]: named }, timeout });
    const fact = phrase('unreachable', 'pw.test', phrase(why, named, variable, ...more));
    const step = phrase('check-proxy', variable);
    expect([code, facts, hints, asked]).toEqual(['unreachable', [fact], [step], 1]);
  });

  test('one that never answers a plain request may have passed it on', async () => {
    const proxy = await rawServer(() => pass(60));
    const { code, facts, hints } = await failingAt('http://pw.test', {
      env: { HTTP_PROXY: proxy.url },
      timeout: 60,
    });
    const late = phrase('no-response', 'pw.test', 60);
    expect([code, facts, hints]).toEqual(['unknown', [late], [phrase('push-may-exist')]]);
    expect(proxy.requests.length).toBe(1);
  });

  test.each(['http', 'https', 'socks5'])('one that is away is told by name: %s', async (scheme) => {
    const { port, close } = await socketServer(() => {});
    await close();
    const named = `${scheme.replace('https', 'http')}://127.0.0.1:${port}`;
    // Of the address of an instance, no name is looked up.
    const env = { [of(scheme === 'http' ? scheme : 'https')]: named };
    const { facts } = await failingAt(`${scheme === 'http' ? 'http' : 'https'}://192.0.2.1`, { env });
    const [variable] = Object.keys(env);
    const why = phrase('proxy-unreachable', named, `${variable}`, phrase('connection-refused'));
    expect(facts).toEqual([phrase('unreachable', '192.0.2.1', why)]);
  });

  test('a SOCKS proxy gets the name of the instance to resolve, or its address, and a login', async () => {
    const server = await listening((_request, response) => response.end(VERSION));
    const version = async (base: string, proxy: string) => {
      const url = `${base}:${server.port}`;
      return (await overSocket(['version', '--url', url], { env: { ALL_PROXY: proxy } })).code;
    };
    const proxy = await socksProxy(server.port, { login: 'ann:s3:cret' });
    const open = await socksProxy(server.port);
    expect([
      await version('http://pw.test', `socks5h://ann:s3%3Acret@${proxy.host}`),
      await version('http://192.0.2.1', `socks5://ann:s3%3Acret@${proxy.host}`),
      await version('http://[2001:db8::1]', `socks5h://${open.host}`),
      await version('http://pw.test', `socks5h://ann:wrong@${proxy.host}`),
    ]).toEqual([0, 0, 0, 9]);
    const { port } = server;
    expect(proxy.seen).toEqual([`pw.test ${port}`, `192.0.2.1 ${port}`]);
    expect(open.seen).toEqual([`20010db8000000000000000000000001 ${port}`]);
    expect(server.seen).toEqual(Array.from({ length: 3 }, () => 'GET /api/v2/version'));
  });

  // An address is not so long, but that of a file may be.
  test('a SOCKS proxy gets a host name of 255 bytes, and none that is longer', async () => {
    const { port } = await listening((_request, response) => response.end());
    const proxy = await socksProxy(port);
    const env = { ALL_PROXY: `socks5h://${proxy.host}` };
    const { send, close } = undiciTransport({ timeout: 30, env });
    onTestFinished(close);
    const asked = (host: string) => send({ method: 'GET', url: `http://${host}:${port}/`, headers: {} });
    const longest = 'a'.repeat(255);
    expect((await asked(longest)).status).toBe(200);
    const long = `${longest}a`;
    const facts = [phrase('unreachable', `${long}:${port}`, phrase('host-unknown'))];
    await expect(asked(long)).rejects.toMatchObject({ facts });
    expect(proxy.seen).toEqual([`${longest} ${port}`]);
  });
});

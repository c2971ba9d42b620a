import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import { connect as secure } from 'node:tls';
import { connecting } from './localhost';
import type { Trust } from './tls-options';

/** What undici's client asks of a connector. */
interface Wanted {
  readonly hostname: string;
  readonly port: string;
}

type Done = (error: Error | null, socket: Socket | null) => void;

/** The proxy answered, and not with a tunnel. `code` is known to `trouble.ts`. */
export class ProxyRefused extends Error {
  override readonly name = 'ProxyRefused';
  readonly code: 'PROXY_REFUSED' | 'PROXY_AUTHENTICATION';

  constructor(status: number | undefined) {
    super('the proxy refused');
    this.code = status === 407 ? 'PROXY_AUTHENTICATION' : 'PROXY_REFUSED';
  }
}

/** The proxy said nothing in the time allowed. */
class ProxyTimeout extends Error {
  readonly code = 'PROXY_TIMEOUT';
}

/** `Proxy-Authorization` for a proxy address with user name and password (RFC 7617), for the proxy alone. */
export function proxyAuthorization(proxy: URL): Record<string, string> {
  if (proxy.username === '' && proxy.password === '') return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

/**
 * A connector for undici's client that reaches an https instance by CONNECT through a proxy (RFC 9110,
 * 9.3.6): one try, with a limit on it. undici's own proxy agent has neither.
 * @param timeout milliseconds for the tunnel, and again for TLS within it
 */
export function tunnel(proxy: URL, tls: Trust, timeout: number) {
  return (wanted: Wanted, done: Done): void =>
    openTunnel(wanted, proxy, tls, timeout, (error, socket) =>
      socket ? secured(socket, wanted.hostname, tls, timeout, done) : done(error, null),
    );
}

/** The tunnel alone: nothing was said to the instance yet. */
export function openTunnel(
  { hostname, port }: Wanted,
  proxy: URL,
  tls: Trust,
  timeout: number,
  done: Done,
): void {
  const target = `${hostname}:${port || 443}`;
  const request = (proxy.protocol === 'https:' ? secureRequest : plainRequest)({
    ...tls,
    ...connecting(proxy.hostname),
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path: target,
    headers: { host: target },
    agent: false,
    timeout,
  });
  // Not among the options, which NODE_DEBUG=http and net print.
  for (const [name, value] of Object.entries(proxyAuthorization(proxy)))
    request.setHeader(name, value);
  let settled = false;
  const settle: Done = (error, socket) => {
    if (settled) return;
    settled = true;
    request.destroy();
    done(error, socket);
  };
  request.once('timeout', () => settle(new ProxyTimeout(), null));
  request.once('error', (error) => settle(error, null));
  request.once('response', ({ statusCode }) => settle(new ProxyRefused(statusCode), null));
  request.once('connect', ({ statusCode }, socket: Socket) => {
    settled = true;
    if (statusCode === 200) return done(null, socket);
    socket.destroy();
    done(new ProxyRefused(statusCode), null);
  });
  request.end();
}

function secured(raw: Socket, hostname: string, tls: Trust, timeout: number, done: Done): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  const named = /^[\d.]+$|:/.test(host) ? {} : { servername: host };
  const socket = secure({ ...tls, ...named, host, socket: raw, ALPNProtocols: ['http/1.1'] });
  const fail = (error: Error) => {
    socket.destroy();
    done(error, null);
  };
  const late = () => fail(new ProxyTimeout());
  socket.setTimeout(timeout, late);
  socket.once('error', fail);
  socket.once('secureConnect', () => {
    socket.setTimeout(0);
    socket.off('timeout', late);
    socket.off('error', fail);
    done(null, socket);
  });
}

// Our own tunnel, not undici's ProxyAgent: that retries without end at a proxy that closes on CONNECT, and waits for
// ever for a silent one. One attempt, one time limit.
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import { connect as secure } from 'node:tls';
import type { ClientCertificate } from '../../platform/context';
import {
  type ConnectCallback,
  HEADER_BYTES,
  hostOf,
  lookupOptions,
  type TlsSettings,
} from './connect-options';

/** Where undici's client asks a connector to connect to. */
interface HostAndPort {
  readonly hostname: string;
  readonly port: string;
}

/** The proxy did not open a tunnel. `code` is one of network-errors.ts. */
class ProxyRefused extends Error {
  constructor(readonly code: 'PROXY_REFUSED' | 'PROXY_AUTHENTICATION' | 'PROXY_TIMEOUT') {
    super(code);
  }
}

const refusedBy = (status: number | undefined) =>
  new ProxyRefused(status === 407 ? 'PROXY_AUTHENTICATION' : 'PROXY_REFUSED');

/** `Proxy-Authorization` (RFC 7617) for a proxy address with user name and password. */
export function proxyAuthorization(proxy: URL): Record<string, string> {
  if (proxy.username === '' && proxy.password === '') return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

interface Tunnel {
  readonly proxy: URL;
  readonly tls: TlsSettings;
  /** For the instance, not for the proxy. */
  readonly certificate?: ClientCertificate | undefined;
  /** For the tunnel, and again for TLS within it. */
  readonly timeoutMs: number;
}

/** A connector for undici's client that reaches an https instance by CONNECT through a proxy (RFC 9110, 9.3.6). */
export function tunnelConnector(tunnel: Tunnel) {
  return (to: HostAndPort, done: ConnectCallback): void =>
    openTunnel(to, tunnel, (error, socket) =>
      socket ? startTls(socket, to.hostname, tunnel, done) : done(error, null),
    );
}

/** Opens a tunnel and sends nothing to the instance. */
function openTunnel(
  { hostname, port }: HostAndPort,
  { proxy, tls, timeoutMs }: Tunnel,
  done: ConnectCallback,
): void {
  const target = `${hostname}:${port || 443}`;
  const request = (proxy.protocol === 'https:' ? secureRequest : plainRequest)({
    ...tls,
    ...lookupOptions(proxy.hostname),
    host: hostOf(proxy),
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path: target,
    headers: { host: target },
    agent: false,
    timeout: timeoutMs,
    maxHeaderSize: HEADER_BYTES,
  });
  // Not passed as an option: NODE_DEBUG=http and net print those.
  for (const [name, value] of Object.entries(proxyAuthorization(proxy)))
    request.setHeader(name, value);
  let settled = false;
  const settle: ConnectCallback = (error, socket) => {
    if (settled) return;
    settled = true;
    request.destroy();
    done(error, socket);
  };
  request.once('timeout', () => settle(new ProxyRefused('PROXY_TIMEOUT'), null));
  request.once('error', (error) => settle(error, null));
  request.once('response', ({ statusCode }) => settle(refusedBy(statusCode), null));
  request.once('connect', ({ statusCode }, socket: Socket) => {
    settled = true;
    if (statusCode === 200) return done(null, socket);
    socket.destroy();
    done(refusedBy(statusCode), null);
  });
  request.end();
}

function startTls(raw: Socket, hostname: string, tunnel: Tunnel, done: ConnectCallback): void {
  const { tls, certificate, timeoutMs } = tunnel;
  const host = hostOf({ hostname });
  const named = /^[\d.]+$|:/.test(host) ? {} : { servername: host };
  const socket = secure({
    ...tls,
    ...certificate,
    ...named,
    host,
    socket: raw,
    ALPNProtocols: ['http/1.1'],
  });
  const fail = (error: Error) => {
    socket.destroy();
    done(error, null);
  };
  const onTimeout = () => fail(new ProxyRefused('PROXY_TIMEOUT'));
  socket.setTimeout(timeoutMs, onTimeout);
  socket.once('error', fail);
  socket.once('secureConnect', () => {
    socket.setTimeout(0);
    socket.off('timeout', onTimeout);
    socket.off('error', fail);
    done(null, socket);
  });
}

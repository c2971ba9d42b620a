// Our own tunnel, not undici's ProxyAgent: that retries without end at a proxy that closes on CONNECT, and waits for
// ever for a silent one. One attempt, one time limit.
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import { connect as secure } from 'node:tls';
import type { ClientCertificate } from '../../platform/context';
import {
  type ChosenProxy,
  type ConnectCallback,
  HEADER_BYTES,
  hostOf,
  lookupOptions,
  type TlsSettings,
} from './connect-options';
import { ProxyError } from './network-errors';

/** Where undici's client asks a connector to connect to. */
interface HostAndPort {
  readonly hostname: string;
  readonly port: string;
}

/** `Proxy-Authorization` (RFC 7617) for a proxy with user name and password. */
export function proxyAuthorization({ login }: Pick<ChosenProxy, 'login'>): Record<string, string> {
  const pair = login.join(':');
  if (pair === ':') return {};
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

interface Tunnel {
  readonly proxy: ChosenProxy;
  /** The protocol of the instance. */
  readonly protocol: string;
  readonly tls: TlsSettings;
  /** For the instance, not for the proxy. */
  readonly certificate?: ClientCertificate | undefined;
  /** For the tunnel, and again for TLS within it. */
  readonly timeoutMs: number;
}

/** A connector for undici's client that reaches an instance by SOCKS, or by CONNECT through a proxy (RFC 9110, 9.3.6). */
export function tunnelConnector(tunnel: Tunnel) {
  const { proxy, protocol, timeoutMs } = tunnel;
  return (to: HostAndPort, done: ConnectCallback): void => {
    const secured = (socket: Socket) =>
      protocol === 'https:' ? startTls(socket, to.hostname, tunnel, done) : done(null, socket);
    const port = Number(to.port || (protocol === 'https:' ? 443 : 80));
    const opened = proxy.socks
      ? import('./socks').then(({ openSocks }) => openSocks({ ...to, port }, proxy, timeoutMs))
      : openTunnel(`${to.hostname}:${port}`, tunnel);
    opened.then(secured, (error) => done(error, null));
  };
}

/** Opens a tunnel and sends nothing to the instance. */
function openTunnel(target: string, { proxy, tls, timeoutMs }: Tunnel): Promise<Socket> {
  const request = (proxy.url.protocol === 'https:' ? secureRequest : plainRequest)({
    ...tls,
    ...lookupOptions(proxy.url.hostname),
    host: hostOf(proxy.url),
    port: proxy.port,
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
  return new Promise<Socket>((resolve, reject) => {
    const fail = (code: ProxyError['code'], cause?: unknown) => {
      request.destroy();
      reject(new ProxyError(code, proxy, cause));
    };
    const refused = (status: number | undefined) =>
      fail(status === 407 ? 'PROXY_AUTHENTICATION' : 'PROXY_REFUSED');
    request.once('timeout', () => fail('PROXY_TIMEOUT'));
    request.once('error', (error) => fail('PROXY_UNREACHABLE', error));
    request.once('response', ({ statusCode }) => refused(statusCode));
    request.once('connect', ({ statusCode }, socket: Socket) => {
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      refused(statusCode);
    });
    request.end();
  });
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
  const onTimeout = () => fail(new ProxyError('PROXY_TIMEOUT', tunnel.proxy));
  socket.setTimeout(timeoutMs, onTimeout);
  socket.once('error', fail);
  socket.once('secureConnect', () => {
    socket.setTimeout(0);
    socket.off('timeout', onTimeout);
    socket.off('error', fail);
    done(null, socket);
  });
}

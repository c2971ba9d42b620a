// undici's ProxyAgent retries without end at a proxy that closes on CONNECT, and waits for ever for a silent one. This
// tunnel makes one attempt within one time limit.
import { lookup } from 'node:dns/promises';
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import {
  type ChosenProxy,
  type ConnectCallback,
  HEADER_BYTES,
  hostOf,
  hostOptions,
  type TlsSettings,
} from './connect-options';
import { ProxyError } from './network-errors';

interface HostAndPort {
  readonly hostname: string;
  readonly port: string;
}

/** Returns `Proxy-Authorization` (RFC 7617) with the user name and the password of the proxy. */
export function proxyAuthorization({ login }: Pick<ChosenProxy, 'login'>): Record<string, string> {
  const pair = login.join(':');
  if (pair === ':') return {};
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

interface Tunnel {
  readonly proxy: ChosenProxy;
  /** The protocol of the instance, not of the proxy. */
  readonly protocol: string;
  /** Whom to trust as the instance, and its client certificate, which the proxy does not see. */
  readonly tls: TlsSettings;
  /** Whom to trust as an https proxy, which gets the password of the proxy. */
  readonly proxyTls: TlsSettings;
  /** Limits the time to open the tunnel, and separately the TLS handshake within it. */
  readonly timeoutMs: number;
}

/** Returns a connector for undici through a SOCKS proxy, or through a tunnel by CONNECT (RFC 9110, 9.3.6). */
export function tunnelConnector(tunnel: Tunnel) {
  const { proxy, protocol } = tunnel;
  return (to: HostAndPort, done: ConnectCallback): void => {
    const secured = (socket: Socket) =>
      protocol === 'https:' ? startTls(socket, to.hostname, tunnel, done) : done(null, socket);
    const port = Number(to.port || (protocol === 'https:' ? 443 : 80));
    const opened = proxy.socks
      ? openSocks({ ...to, port }, tunnel)
      : openTunnel(`${to.hostname}:${port}`, tunnel);
    opened.then(secured, (error) => done(error, null));
  };
}

/** Opens a tunnel by CONNECT. It sends nothing to the instance. */
function openTunnel(target: string, { proxy, proxyTls, timeoutMs }: Tunnel): Promise<Socket> {
  const request = (proxy.url.protocol === 'https:' ? secureRequest : plainRequest)({
    ...proxyTls,
    ...hostOptions(proxy.url),
    port: proxy.port,
    method: 'CONNECT',
    path: target,
    headers: { host: target },
    agent: false,
    timeout: timeoutMs,
    maxHeaderSize: HEADER_BYTES,
  });
  // NODE_DEBUG=http and net print the options of a request, but not headers that are set later.
  for (const [name, value] of Object.entries(proxyAuthorization(proxy)))
    request.setHeader(name, value);
  return new Promise<Socket>((resolve, reject) => {
    const fail = (fact: ProxyError['fact'], cause?: unknown) => {
      request.destroy();
      reject(new ProxyError(fact, proxy, cause));
    };
    const refused = (status: number | undefined) =>
      fail(status === 407 ? 'proxy-needs-login' : 'proxy-refused');
    request.once('timeout', () => fail('proxy-timeout'));
    request.once('error', (error) => fail('proxy-unreachable', error));
    request.once('response', ({ statusCode }) => refused(statusCode));
    request.once('connect', ({ statusCode }, socket: Socket) => {
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      refused(statusCode);
    });
    request.end();
  });
}

/** The most bytes of a host name (RFC 1928, 5). */
const MOST_NAME_BYTES = 255;

/**
 * Opens a connection through a SOCKS5 proxy (RFC 1928, 1929), and sends nothing to the instance. `connectToProxy`
 * connects to the proxy, since the package socks passes on only the texts of errors.
 * @throws ProxyError; the error of a lookup of the instance
 */
async function openSocks(
  { hostname, port }: { readonly hostname: string; readonly port: number },
  { proxy, timeoutMs }: Tunnel,
): Promise<Socket> {
  const name = hostOf({ hostname });
  if (Buffer.byteLength(name) > MOST_NAME_BYTES)
    throw Object.assign(new Error('name too long'), { code: 'ENOTFOUND' });
  const local = proxy.socks === 'socks5' && isIP(name) === 0;
  const host = local ? (await lookup(name)).address : name;
  const existing_socket = await connectToProxy(proxy, timeoutMs);
  const [userId = '', password = ''] = proxy.login;
  const { SocksClient } = await import('socks');
  try {
    const { socket } = await SocksClient.createConnection({
      command: 'connect',
      // The package socks only checks this address, since the connection exists already.
      proxy: { host: hostOf(proxy.url), port: proxy.port, type: 5, userId, password },
      destination: { host, port },
      timeout: timeoutMs,
      existing_socket,
    });
    return socket;
  } catch (error) {
    existing_socket.destroy();
    // The error of the package socks has the password, so that it does not become the cause.
    throw new ProxyError(socksFault((error as Error).message), proxy);
  }
}

function connectToProxy(proxy: ChosenProxy, timeoutMs: number): Promise<Socket> {
  const socket = connect({ ...hostOptions(proxy.url), port: proxy.port });
  return new Promise((resolve, reject) => {
    const fail = (error: ProxyError) => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(timeoutMs, () => fail(new ProxyError('proxy-timeout', proxy)));
    socket.once('error', (error) => fail(new ProxyError('proxy-unreachable', proxy, error)));
    socket.once('connect', () => {
      socket.setTimeout(0).removeAllListeners('timeout').removeAllListeners('error');
      resolve(socket);
    });
  });
}

/** Errors of the package socks have no codes, only texts. */
function socksFault(message: string) {
  if (/auth/i.test(message)) return 'proxy-needs-login';
  return /timed out/i.test(message) ? 'proxy-timeout' : 'proxy-refused';
}

function startTls(raw: Socket, hostname: string, tunnel: Tunnel, done: ConnectCallback): void {
  const { tls, timeoutMs } = tunnel;
  const socket = connectTls({
    ...tls,
    ...hostOptions({ hostname }),
    socket: raw,
    ALPNProtocols: ['http/1.1'],
  });
  const fail = (error: Error) => {
    socket.destroy();
    done(error, null);
  };
  const onTimeout = () => fail(new ProxyError('proxy-timeout', tunnel.proxy));
  socket.setTimeout(timeoutMs, onTimeout);
  socket.once('error', fail);
  socket.once('secureConnect', () => {
    socket.setTimeout(0);
    socket.off('timeout', onTimeout);
    socket.off('error', fail);
    done(null, socket);
  });
}

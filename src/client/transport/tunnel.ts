// undici's ProxyAgent retries without end at a proxy that closes on CONNECT, and waits for ever for a silent one.
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { hostOf } from '../../contract/address';
import {
  type ChosenProxy,
  type ConnectCallback,
  HEADER_BYTES,
  hostOptions,
  type TlsSettings,
} from './connect-options';
import { ProxyError } from './network-errors';

interface Destination {
  readonly hostname: string;
  readonly port: string;
  /** Ends what is being set up. */
  readonly signal?: AbortSignal;
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
  readonly timeoutMs: number;
}

/** Returns a connector for undici through a SOCKS proxy, or through a tunnel by CONNECT (RFC 9110, 9.3.6). */
export function tunnelConnector(tunnel: Tunnel) {
  return (to: Destination, done: ConnectCallback): void => {
    opened(to, tunnel).then(
      (socket) => done(null, socket),
      (error) => done(error, null),
    );
  };
}

async function opened(to: Destination, tunnel: Tunnel): Promise<Socket> {
  const { proxy, protocol, tls } = tunnel;
  const isSecure = protocol === 'https:';
  const there = { ...to, port: to.port || (isSecure ? '443' : '80') };
  const socket = await (proxy.socks ? openSocks : openTunnel)(there, tunnel);
  return isSecure ? startTls(socket, to, tls) : socket;
}

/** Opens a tunnel by CONNECT. It sends nothing to the instance. */
function openTunnel(
  { hostname, port, signal }: Destination,
  { proxy, proxyTls }: Tunnel,
): Promise<Socket> {
  const target = `${hostname}:${port}`;
  const request = (proxy.url.protocol === 'https:' ? secureRequest : plainRequest)({
    ...proxyTls,
    ...hostOptions(proxy.url),
    port: proxy.port,
    method: 'CONNECT',
    path: target,
    headers: { host: target },
    agent: false,
    signal,
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
 * Opens a connection through a SOCKS5 proxy (RFC 1928, 1929), and sends nothing to the instance. It connects to the
 * proxy itself, since the package socks passes on only the texts of errors.
 * @throws ProxyError; the error of a lookup of the instance
 */
async function openSocks(
  { hostname, port, signal }: Destination,
  { proxy, timeoutMs }: Tunnel,
): Promise<Socket> {
  const name = hostOf({ hostname });
  if (Buffer.byteLength(name) > MOST_NAME_BYTES)
    throw Object.assign(new Error('name too long'), { code: 'ENOTFOUND' });
  const local = proxy.socks === 'socks5' && isIP(name) === 0;
  const host = local ? (await lookup(name)).address : name;
  const existing_socket = connect({ ...hostOptions(proxy.url), port: proxy.port, signal });
  try {
    await once(existing_socket, 'connect');
  } catch (error) {
    throw new ProxyError('proxy-unreachable', proxy, error);
  }
  const [userId = '', password = ''] = proxy.login;
  const { SocksClient } = await import('socks');
  try {
    const { socket } = await SocksClient.createConnection({
      command: 'connect',
      // The package socks only checks this address, since the connection exists already.
      proxy: { host: hostOf(proxy.url), port: proxy.port, type: 5, userId, password },
      destination: { host, port: Number(port) },
      timeout: timeoutMs,
      existing_socket,
    });
    return socket;
  } catch (error) {
    existing_socket.destroy();
    // The error of the package socks has the password, so that it does not become the cause. Its errors have no codes.
    const needsLogin = /auth/i.test((error as Error).message);
    throw new ProxyError(needsLogin ? 'proxy-needs-login' : 'proxy-refused', proxy);
  }
}

async function startTls(
  raw: Socket,
  { hostname, signal }: Destination,
  tls: TlsSettings,
): Promise<Socket> {
  const options = { ...hostOptions({ hostname }), ALPNProtocols: ['http/1.1'], signal };
  const socket = connectTls({ ...tls, ...options, socket: raw });
  try {
    await once(socket, 'secureConnect');
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

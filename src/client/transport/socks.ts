import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { SocksClient } from 'socks';
import { type ChosenProxy, hostOf, lookupOptions } from './connect-options';
import { ProxyError } from './network-errors';

// The connection to the proxy is ours: the package would keep nothing of its errors but their text.

/** Bytes of a host name (RFC 1928, 5). */
const MOST_NAME_BYTES = 255;

/**
 * Opens a connection through a SOCKS5 proxy (RFC 1928, 1929), and sends nothing to the instance.
 * @param timeoutMs to connect to the proxy, and again until it is connected to the instance
 * @throws ProxyError; the error of a lookup of the instance
 */
export async function openSocks(
  { hostname, port }: { readonly hostname: string; readonly port: number },
  proxy: ChosenProxy,
  timeoutMs: number,
): Promise<Socket> {
  const name = hostOf({ hostname });
  if (Buffer.byteLength(name) > MOST_NAME_BYTES)
    throw Object.assign(new Error('name too long'), { code: 'ENOTFOUND' });
  const local = proxy.socks === 'socks5' && isIP(name) === 0;
  const host = local ? (await lookup(name)).address : name;
  const existing_socket = await connected(proxy, timeoutMs);
  const [userId = '', password = ''] = proxy.login;
  try {
    const { socket } = await SocksClient.createConnection({
      command: 'connect',
      // Its address is for the check of the options only.
      proxy: { host: hostOf(proxy.url), port: proxy.port, type: 5, userId, password },
      destination: { host, port },
      timeout: timeoutMs,
      existing_socket,
    });
    return socket;
  } catch (error) {
    existing_socket.destroy();
    // Without the error: it has the password.
    throw new ProxyError(codeOf((error as Error).message), proxy);
  }
}

function connected(proxy: ChosenProxy, timeoutMs: number): Promise<Socket> {
  const host = hostOf(proxy.url);
  const socket = connect({ host, port: proxy.port, ...lookupOptions(host) });
  return new Promise((resolve, reject) => {
    const fail = (error: ProxyError) => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(timeoutMs, () => fail(new ProxyError('PROXY_TIMEOUT', proxy)));
    socket.once('error', (error) => fail(new ProxyError('PROXY_UNREACHABLE', proxy, error)));
    socket.once('connect', () => {
      socket.setTimeout(0).removeAllListeners('timeout').removeAllListeners('error');
      resolve(socket);
    });
  });
}

/** The package has texts only. */
function codeOf(message: string) {
  if (/auth/i.test(message)) return 'PROXY_AUTHENTICATION';
  return /timed out/i.test(message) ? 'PROXY_TIMEOUT' : 'PROXY_REFUSED';
}

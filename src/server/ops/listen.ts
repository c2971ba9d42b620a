import { createSocket } from 'node:dgram';
import type { Server as HttpServer } from 'node:http';
import { Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { TlsOptions } from 'node:tls';
import { isLoopback, urlHost } from '../../contract/address';
import { ServiceError, systemCode } from '../service-errors';
import { acceptorFor } from './acceptor';

/** Where to listen: at an address, or on a socket that is listening already. */
export type ListenTarget =
  | { readonly host: string; readonly port: number }
  | { readonly fd: number };

export interface Listening {
  /** The address it listens on; undefined for a Unix domain socket. */
  readonly host: string | undefined;
  /** The URL by which this machine reaches it; `fd:3` for a Unix domain socket, whose path is unknown. */
  readonly url: string;
}

/**
 * Makes the server listen.
 * @param tls the options of a server that speaks TLS
 * @param option the option that sets the port, for the hint
 * @throws ServiceError when it cannot listen there
 */
export function listen(
  http: HttpServer,
  target: ListenTarget,
  tls: TlsOptions | undefined,
  option = '--port',
): Promise<Listening> {
  const server = http instanceof Server ? http : acceptorFor(http, tls);
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(listenError(error, target, option));
    server.once('error', fail);
    const listening = () => {
      const address = server.address();
      if (address === null || typeof address === 'string')
        return resolve({ host: undefined, url: 'fd' in target ? `fd:${target.fd}` : '' });
      const host = 'host' in target ? target.host : address.address;
      resolve({ host, url: `http${tls ? 's' : ''}://${urlHost(host)}:${address.port}` });
    };
    try {
      server.listen(target, listening);
    } catch (error) {
      // The descriptor is not a socket.
      fail(error as Error);
    }
  });
}

function listenError(cause: Error, target: ListenTarget, option: string): ServiceError {
  const code = systemCode(cause);
  if ('fd' in target) {
    const what = `descriptor ${target.fd}, as passed by LISTEN_FDS, is not a socket to listen on`;
    return new ServiceError(`${what}${code && ` (${code})`}`, { cause });
  }
  const where = `${target.host} port ${target.port}`;
  if (code === 'EADDRINUSE')
    return new ServiceError(`${where} is in use`, { hint: `choose another with ${option}`, cause });
  return new ServiceError(`cannot listen on ${where}${code && ` (${code})`}`, { cause });
}

/** Addresses reserved for documentation (RFC 5737, RFC 3849): packets to them take the default route. */
const documentation = { IPv4: '192.0.2.1', IPv6: '2001:db8::1' } as const;
type IpFamily = keyof typeof documentation;

/**
 * The address by which other machines reach this one: that of the default route, or else the first that is neither
 * loopback nor link-local. IPv4 if there is one.
 */
export async function outwardAddress(host: '0.0.0.0' | '::'): Promise<string | undefined> {
  const families: IpFamily[] = host === '::' ? ['IPv4', 'IPv6'] : ['IPv4'];
  for (const family of families) {
    const address = (await defaultRoute(family)) ?? firstAddress(family);
    if (address !== undefined) return address;
  }
  return undefined;
}

/**
 * The URL by which other machines reach a server that listens on `host`.
 * @param url the URL by which this machine reaches it
 * @returns undefined when this machine has no such address
 */
export async function outwardUrl(
  url: string,
  host: string | undefined,
): Promise<string | undefined> {
  if (host !== '0.0.0.0' && host !== '::') return url;
  const address = await outwardAddress(host);
  if (address === undefined) return undefined;
  const { protocol, port } = new URL(url);
  return `${protocol}//${urlHost(address)}:${port}`;
}

/** The source address of the default route. Connecting a UDP socket sends nothing. */
function defaultRoute(family: IpFamily): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(family === 'IPv4' ? 'udp4' : 'udp6');
    const done = (address?: string) => {
      socket.close();
      resolve(address !== undefined && isOutward(address) ? address : undefined);
    };
    socket.once('error', () => done());
    socket.connect(9, documentation[family], (error?: Error) =>
      done(error ? undefined : socket.address().address),
    );
  });
}

function firstAddress(family: IpFamily): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find((one) => one.family === family && !one.internal && isOutward(one.address))
    ?.address;
}

/** Neither loopback nor link-local, whose addresses need a zone. */
function isOutward(address: string): boolean {
  return !isLoopback(address) && !/^(?:169\.254\.|0\.|::$|fe[89ab])/i.test(address);
}

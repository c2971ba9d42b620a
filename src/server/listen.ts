import { createSocket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import { isLoopback } from '../loopback';

/** Addresses of nobody (RFC 5737, RFC 3849): the route to them is that to the world. */
const nobody = { IPv4: '192.0.2.1', IPv6: '2001:db8::1' } as const;

/**
 * The address by which other machines reach this one: of several that which leads to the world, or else the first
 * that is not for this machine or this wire alone. IPv4 where that will do.
 */
export async function outwardAddress(host: '0.0.0.0' | '::'): Promise<string | undefined> {
  const families = host === '::' ? (['IPv4', 'IPv6'] as const) : (['IPv4'] as const);
  for (const family of families) {
    const address = (await routed(family)) ?? first(family);
    if (address !== undefined) return address;
  }
  return undefined;
}

/**
 * The address that others reach a listening socket by, for one that listens on all addresses.
 * @param url the socket's, as this machine reaches it
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
  return `${protocol}//${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** Where a datagram would leave from; none is sent. */
function routed(family: keyof typeof nobody): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(family === 'IPv4' ? 'udp4' : 'udp6');
    const done = (address?: string) => {
      socket.close();
      resolve(address !== undefined && isOutward(address) ? address : undefined);
    };
    socket.once('error', () => done());
    socket.connect(9, nobody[family], (error?: Error) =>
      done(error ? undefined : socket.address().address),
    );
  });
}

function first(family: keyof typeof nobody): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find((one) => one.family === family && !one.internal && isOutward(one.address))
    ?.address;
}

/** Neither of this machine nor of one wire, whose addresses need a zone besides. */
function isOutward(address: string): boolean {
  return !isLoopback(address) && !/^(?:169\.254\.|0\.|::$|fe[89ab])/i.test(address);
}

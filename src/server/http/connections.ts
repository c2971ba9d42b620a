import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { ServiceSettings } from '../service-settings';
import { maxConnectionsOf, rateLimitOf } from '../service-settings';
import { plainIp } from './caller';
import { clientOf } from './rate-limit';

/** One client gets a sixteenth of the connections. */
const CLIENTS = 16;

export interface ConnectionLimit {
  /** Of all servers together. */
  readonly most: number;
  /** Whose share the connections from an address take; nothing where no share applies. */
  clientOf(address: string | undefined): string | undefined;
}

/**
 * The connection limit of the settings. Behind a proxy there are no shares: all connections are the proxy's.
 * @throws ServiceError when the maximum is too small
 */
export function connectionLimitOf(settings: ServiceSettings): ConnectionLimit {
  const rateLimit = rateLimitOf(settings);
  return {
    most: maxConnectionsOf(settings),
    clientOf: (address) =>
      settings.trustProxy ? undefined : clientOf(plainIp(address) ?? null, rateLimit),
  };
}

interface Entry {
  socket: Socket;
  readonly client: string | undefined;
}

/** Those without a request under way, the one that has waited longest first; and how many there are in all. */
class Pool {
  count = 0;
  readonly waiting = new Set<Entry>();
}

/**
 * Limits the connections of servers, and those of one client. When there are too many, the one is cut that has waited
 * longest for a request: whoever sends half a head keeps nobody else out.
 */
export function connectionLimiter({ most, clientOf }: ConnectionLimit) {
  const all = new Pool();
  const clients = new Map<string, Pool>();
  const entries = new Map<unknown, Entry>();
  const share = Math.max(1, Math.floor(most / CLIENTS));

  const poolsOf = ({ client }: Entry): Pool[] => {
    const own = client === undefined ? undefined : clients.get(client);
    return own ? [all, own] : [all];
  };
  const wait = (entry: Entry) => {
    for (const { waiting } of poolsOf(entry)) waiting.add(entry);
  };
  const leave = (entry: Entry) => {
    for (const { waiting } of poolsOf(entry)) waiting.delete(entry);
  };
  const cutOldest = ({ waiting }: Pool) => {
    for (const entry of waiting) {
      leave(entry);
      return void entry.socket.destroy();
    }
  };

  function open(socket: Socket): void {
    const key = keyOf(socket);
    const client = clientOf(socket.remoteAddress);
    const entry: Entry = { socket, client };
    if (client !== undefined && !clients.has(client)) clients.set(client, new Pool());
    entries.set(key, entry);
    for (const pool of poolsOf(entry)) pool.count += 1;
    wait(entry);
    socket.once('close', () => {
      leave(entry);
      for (const pool of poolsOf(entry)) pool.count -= 1;
      if (client !== undefined && clients.get(client)?.count === 0) clients.delete(client);
      if (entries.get(key) === entry) entries.delete(key);
    });
    const own = client === undefined ? undefined : clients.get(client);
    if (own && own.count > share) cutOldest(own);
    else if (all.count > most) cutOldest(all);
  }

  return (server: Server, secure: boolean): void => {
    server.on('connection', open);
    if (secure) {
      server.on('secureConnection', (socket: Socket) => {
        const entry = entries.get(keyOf(socket));
        if (entry) entry.socket = socket;
      });
    }
    server.on('request', ({ socket }: IncomingMessage, outgoing: ServerResponse) => {
      const key = keyOf(socket);
      const entry = entries.get(key);
      if (!entry) return;
      leave(entry);
      outgoing.once('close', () => entries.get(key) === entry && wait(entry));
    });
  };
}

/** The same for a TLS socket and the one below it; those in the file system have no address. */
function keyOf(socket: Socket): unknown {
  const { remoteAddress, remotePort } = socket;
  return remoteAddress === undefined ? socket : `${remoteAddress} ${remotePort}`;
}

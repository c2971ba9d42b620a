import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { checkSettings, type ServiceSettings } from '../../service-settings';
import { clientOf } from '../rate-limit';
import { plainIp } from '../request-origin';

/** One client gets a sixteenth of the connections. */
const CLIENTS = 16;

export interface ConnectionLimit {
  /** Maximum of all servers together. */
  readonly most: number;
  /** Whose share the connections from an address take; undefined for none. */
  clientOf(address: string | undefined): string | undefined;
}

/**
 * The connection limit of the settings. Behind a proxy there are no shares: all connections are the proxy's.
 * @throws ServiceError when the maximum is too small
 */
export function connectionLimitOf(settings: ServiceSettings): ConnectionLimit {
  const { connections, rateLimit } = checkSettings(settings);
  return {
    most: connections,
    clientOf: (address) =>
      settings.trustProxy ? undefined : clientOf(plainIp(address) ?? null, rateLimit),
  };
}

interface OpenConnection {
  socket: Socket;
  readonly groups: readonly ConnectionGroup[];
}

class ConnectionGroup {
  /** Of all its connections. */
  count = 0;
  /** Connections without a running request, the one that has been idle longest first. */
  readonly waiting = new Set<OpenConnection>();
}

/**
 * Limits the connections of all servers, and those of one client. When there are too many, it cuts the one that has
 * waited longest for a request, so that incomplete requests do not keep other clients out.
 */
export function connectionLimiter({ most, clientOf }: ConnectionLimit) {
  const all = new ConnectionGroup();
  const clients = new Map<string, ConnectionGroup>();
  const entries = new Map<unknown, OpenConnection>();
  const share = Math.max(1, Math.floor(most / CLIENTS));

  const wait = (entry: OpenConnection) => {
    for (const { waiting } of entry.groups) waiting.add(entry);
  };
  const leave = (entry: OpenConnection) => {
    for (const { waiting } of entry.groups) waiting.delete(entry);
  };
  const cutOldest = ({ waiting }: ConnectionGroup) => {
    for (const entry of waiting) {
      leave(entry);
      return void entry.socket.destroy();
    }
  };

  function open(socket: Socket): void {
    const key = keyOf(socket);
    const client = clientOf(socket.remoteAddress);
    const own = client === undefined ? undefined : (clients.get(client) ?? new ConnectionGroup());
    if (client !== undefined && own) clients.set(client, own);
    const entry: OpenConnection = { socket, groups: own ? [all, own] : [all] };
    entries.set(key, entry);
    for (const group of entry.groups) group.count += 1;
    wait(entry);
    socket.once('close', () => {
      leave(entry);
      for (const group of entry.groups) group.count -= 1;
      if (client !== undefined && own?.count === 0) clients.delete(client);
      if (entries.get(key) === entry) entries.delete(key);
    });
    if (own && own.count > share) cutOldest(own);
    else if (all.count > most) cutOldest(all);
  }

  return (server: Server): void => {
    server.on('connection', open);
    server.on('secureConnection', (socket: Socket) => {
      const entry = entries.get(keyOf(socket));
      if (entry) entry.socket = socket;
    });
    server.on('request', ({ socket }: IncomingMessage, outgoing: ServerResponse) => {
      const key = keyOf(socket);
      const entry = entries.get(key);
      if (!entry) return;
      leave(entry);
      outgoing.once('close', () => entries.get(key) === entry && wait(entry));
    });
  };
}

/** The same key for a TLS socket and its TCP socket. Unix domain sockets have no address. */
function keyOf(socket: Socket): unknown {
  const { remoteAddress, remotePort } = socket;
  return remoteAddress === undefined ? socket : `${remoteAddress} ${remotePort}`;
}

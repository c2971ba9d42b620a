import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { CheckedSettings } from '../../service-settings';
import { networksOf } from '../../shares';
import { plainIp } from '../../trusted-proxies';
import { clientOf } from '../rate-limit';

/** One client gets a sixteenth of the connections. */
const CLIENTS = 16;

export interface ConnectionLimit {
  /** Maximum number of connections of all servers together. */
  readonly most: number;
  /** Returns the client whose share connections from an address count against; undefined for none. */
  clientOf(address: string | undefined): string | undefined;
}

/** Returns the connection limit of the settings. A trusted proxy has no share, as it makes the connections of many. */
export function connectionLimitOf({
  maxConnections,
  rateLimit,
  trusts,
}: CheckedSettings): ConnectionLimit {
  return {
    most: maxConnections,
    clientOf: (address) =>
      trusts(address) ? undefined : clientOf(plainIp(address) ?? null, rateLimit),
  };
}

interface OpenConnection {
  socket: Socket;
  readonly groups: readonly ConnectionGroup[];
  /** Time (`performance.now()`) since which the server waits for the next request or the body of one. */
  since: number;
  /** Bytes that had arrived on the connection when the wait for a request began. */
  before: number;
  /** The request whose body the server waits for. */
  incoming?: IncomingMessage | undefined;
}

class ConnectionGroup {
  count = 0;
  /** Connections without a running request, the one that has been idle longest first. */
  readonly waiting = new Set<OpenConnection>();
  /** Connections whose request has a body, which may be incomplete. */
  readonly receiving = new Set<OpenConnection>();

  constructor(
    readonly name: string,
    readonly most: number,
  ) {}

  /** Returns the waiting connection that sends slowest. A connection whose client reads a response is not waiting. */
  slowest(): OpenConnection | undefined {
    const now = performance.now();
    const [oldest] = this.waiting;
    const incomplete = [...this.receiving].filter(({ incoming }) => !incoming?.complete);
    let slowest: OpenConnection | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const one of oldest ? [oldest, ...incomplete] : incomplete) {
      const { socket, since, before, incoming } = one;
      const brought = incoming ? socket.bytesRead - before : 0;
      const rate = (HEAD_START + brought) / (now - since);
      if (slowest && rate >= least) continue;
      slowest = one;
      least = rate;
    }
    return slowest;
  }
}

/** Bytes that are added to those of each connection, so that a new one is not the slowest. */
const HEAD_START = 4096;

/**
 * Limits the connections of all servers, and those of one client. When there are too many, it cuts the slowest one that
 * waits for a request or for the rest of a body, so that incomplete requests do not keep other clients out.
 */
export function connectionLimiter({ most, clientOf }: ConnectionLimit) {
  const all = new ConnectionGroup('', most);
  const networks = new Map<string, ConnectionGroup>();
  const entries = new Map<unknown, OpenConnection>();
  const share = Math.max(1, Math.floor(most / CLIENTS));

  const leave = (entry: OpenConnection) => {
    for (const { waiting, receiving } of entry.groups) {
      waiting.delete(entry);
      receiving.delete(entry);
    }
  };
  const wait = (entry: OpenConnection, incoming?: IncomingMessage) => {
    leave(entry);
    entry.since = performance.now();
    entry.incoming = incoming;
    if (!incoming) entry.before = entry.socket.bytesRead;
    for (const { waiting, receiving } of entry.groups) (incoming ? receiving : waiting).add(entry);
  };

  function open(socket: Socket): void {
    const key = keyOf(socket);
    const client = clientOf(socket.remoteAddress);
    const own = (client === undefined ? [] : networksOf(client)).map(
      ([name, times]) => networks.get(name) ?? new ConnectionGroup(name, times * share),
    );
    for (const network of own) networks.set(network.name, network);
    const entry: OpenConnection = { socket, groups: [...own, all], since: 0, before: 0 };
    entries.set(key, entry);
    for (const group of entry.groups) group.count += 1;
    wait(entry);
    socket.once('close', () => {
      leave(entry);
      for (const group of entry.groups) group.count -= 1;
      for (const { name, count } of own) if (count === 0) networks.delete(name);
      if (entries.get(key) === entry) entries.delete(key);
    });
    const slowest = entry.groups.find(({ count, most }) => count > most)?.slowest();
    if (!slowest) return;
    leave(slowest);
    slowest.socket.destroy();
  }

  return (server: Server): void => {
    server.on('connection', open);
    server.on('secureConnection', (socket: Socket) => {
      const entry = entries.get(keyOf(socket));
      if (entry) Object.assign(entry, { socket, before: 0 });
    });
    server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
      const key = keyOf(incoming.socket);
      const entry = entries.get(key);
      if (!entry) return;
      if (hasBody(incoming)) wait(entry, incoming);
      else leave(entry);
      outgoing.once('close', () => entries.get(key) === entry && wait(entry));
    });
  };
}

/** Whether a request has a body (RFC 9112, 6). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return (headers['content-length'] ?? headers['transfer-encoding']) !== undefined;
}

/** Returns the same key for a TLS socket and its TCP socket. Unix domain sockets have no address. */
function keyOf(socket: Socket): unknown {
  const { remoteAddress, remotePort } = socket;
  return remoteAddress === undefined ? socket : `${remoteAddress} ${remotePort}`;
}

/** Pipelined requests of one connection that may wait for the response before them. */
const MAX_PIPELINED = 16;

type Exchange = readonly [IncomingMessage, ServerResponse];

/**
 * Makes a server handle the pipelined requests of a connection (RFC 9112, 9.3.2) one at a time. Node.js starts all of
 * them at once, so that a few bytes cause a hundred responses that nobody reads. A connection with too many waiting
 * requests is cut: Node.js parses whole reads, and keeps each request in memory.
 */
export function serializeRequests(server: Server): void {
  const waiting = new WeakMap<Socket, Exchange[]>();
  const emit = server.emit.bind(server);

  const begin = ([incoming, outgoing]: Exchange) => {
    const { socket } = incoming;
    outgoing.once('close', () => {
      const next = socket.writable ? waiting.get(socket)?.shift() : undefined;
      if (next) {
        begin(next);
        return;
      }
      waiting.delete(socket);
      if (socket.isPaused()) socket.resume();
    });
    emit('request', incoming, outgoing);
  };

  const take = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { socket } = incoming;
    // A socket that is not writable was refused, and what follows the refused input is no request.
    if (!socket.writable) return;
    if (isUncertain(incoming)) {
      const code = 'HPE_INVALID_TRANSFER_ENCODING';
      emit('clientError', Object.assign(new Error('invalid framing'), { code }), socket);
      return;
    }
    const before = waiting.get(socket);
    if (!before) {
      waiting.set(socket, []);
      begin([incoming, outgoing]);
    } else if (before.length < MAX_PIPELINED) {
      before.push([incoming, outgoing]);
      // Node.js resumes the socket at the end of the request, so it is paused afterwards.
      queueMicrotask(() => waiting.has(socket) && socket.pause());
    } else {
      socket.destroy();
    }
  };

  server.emit = (event: string, ...values: unknown[]) => {
    if (event !== 'request') return emit(event, ...values);
    take(...(values as [IncomingMessage, ServerResponse]));
    return true;
  };
}

/**
 * Whether it is uncertain where the body ends, as with Transfer-Encoding in HTTP/1.0 (RFC 9112, 6.1): a proxy may have
 * ignored the header, so that the next bytes may be the body of another client's request.
 */
function isUncertain({ headers, httpVersion }: IncomingMessage): boolean {
  return httpVersion !== '1.1' && headers['transfer-encoding'] !== undefined;
}

/** Milliseconds for which running requests may go on after a stop. */
export const GRACE_MS = 30_000;

/**
 * Tracks the connections of a server. Returns a function that stops the server: it accepts no new connections, closes
 * idle ones, and lets running requests finish within `grace` milliseconds.
 */
export function gracefulStop(
  server: Server,
  secure: boolean,
  grace = GRACE_MS,
): () => Promise<void> {
  const connections = new Set<Socket>();
  const ready = new Set<Socket>();
  const running = new Set<ServerResponse>();
  let stopping = false;
  // `server.close` calls this, and the original of Node.js drops responses that are ended but not flushed.
  server.closeIdleConnections = () => undefined;

  // Node.js would also count a connection without any request as active.
  const closeIdle = () => {
    const busy = new Set([...running].map(({ req }) => req.socket));
    for (const socket of ready) if (!busy.has(socket)) socket.destroySoon();
  };
  server.on('connection', (socket: Socket) => track(connections, socket));
  server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => track(ready, socket));
  server.on('request', (_: IncomingMessage, response: ServerResponse) => {
    running.add(response);
    if (stopping) announceEnd(response);
    response.once('close', () => {
      running.delete(response);
      if (stopping) setImmediate(closeIdle);
    });
  });
  return () =>
    new Promise((resolve) => {
      stopping = true;
      running.forEach(announceEnd);
      const timer = setTimeout(() => {
        for (const socket of connections) socket.destroy();
      }, grace);
      server.close(() => {
        clearTimeout(timer);
        resolve();
      });
      closeIdle();
    });
}

/** Makes the client send its next request on another connection. */
function announceEnd(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

function track(set: Set<Socket>, socket: Socket): void {
  set.add(socket);
  socket.once('close', () => set.delete(socket));
}

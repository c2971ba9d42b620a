import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { connectionOf, sendQueues, untaken } from '../../../platform/files/socket-progress';
import type { ReadingRate } from '../../service-settings';
import { hasBody } from './connections';

export interface Timeouts {
  /** Milliseconds for the head of a request. */
  readonly head: number;
  /** Milliseconds without any transfer, until the response has begun. */
  readonly idle: number;
  /** Milliseconds between a response and the next request of its connection. */
  readonly keepAlive: number;
  /** Milliseconds for a body, unless its sender was accepted (`liftLimit`). */
  readonly body: number;
  /** Minimum rate at which clients must read responses and send bodies. */
  readonly read: ReadingRate;
  /** Bytes of a body that are still read after an early response, if they arrive at the reading rate. */
  readonly rest: number;
}

/** Timeouts with those optional that are not derived from settings. */
export type SomeTimeouts = Partial<Timeouts> & Pick<Timeouts, 'read' | 'rest'>;

const defaults: Omit<Timeouts, 'read' | 'rest'> = {
  head: 20_000,
  idle: 30_000,
  keepAlive: 5000,
  body: 60_000,
};

/**
 * Makes a server cut connections that stall, and send `100 Continue` only when the app reads the body. Call it before
 * the server listens.
 */
export function limitTimes(server: Server, timeouts: SomeTimeouts): void {
  const { head, idle, keepAlive, body, read, rest } = { ...defaults, ...timeouts };
  server.headersTimeout = head;
  // Node.js reads this property, but @types/node has it only as an option of the constructor.
  Object.assign(server, { connectionsCheckingInterval: Math.min(head, 5000) });
  server.timeout = idle;
  server.keepAliveTimeout = keepAlive;
  server.on('timeout', (socket: Socket) => {
    // A client that has a response to read is subject to the reading rate instead.
    if (socket.writableLength > 0) socket.setTimeout(idle);
    else socket.destroy();
  });
  cutSlowClients(server, read);
  server.requestTimeout = 0;
  server.on('checkContinue', (incoming, outgoing) => {
    // Without `100 Continue`, it is unknown whether a body follows, so the connection ends with the response.
    outgoing.setHeader('connection', 'close');
    server.emit('request', incoming, outgoing);
  });
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (!hasBody(incoming)) return;
    limitBody(incoming, outgoing, body);
    // Without this read, Node.js would discard an unread body of any size.
    incoming.read(0);
    outgoing.prependOnceListener('finish', () => delayClosing(incoming));
    outgoing.once('finish', () => discardRest(incoming, rest, read));
  });
}

/** Requests whose bodies may take any time, as long as data arrives. */
const accepted = new WeakSet<IncomingMessage>();

/**
 * Lifts the time limit of a body. Call it only when the sender was accepted by a token, or by link and passphrase of a
 * request that awaits its answer: what a client claims in headers may not have been checked.
 */
export function liftLimit(incoming: IncomingMessage): void {
  accepted.add(incoming);
}

/** Cuts a body that takes too long. The limit ends with the response, after which `discardRest` has its own limit. */
function limitBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  milliseconds: number,
): void {
  const timer = setTimeout(() => {
    if (!incoming.complete && !accepted.has(incoming)) incoming.socket.destroy();
  }, milliseconds);
  timer.unref();
  const stop = () => clearTimeout(timer);
  incoming.once('close', stop);
  outgoing.once('finish', stop);
}

/**
 * Delays the end of a connection until the body was read: Node.js would close it with its last response. Call it before
 * the `finish` listener of Node.js.
 */
function delayClosing(incoming: IncomingMessage): void {
  const { complete, headers, socket } = incoming;
  // Without `100 Continue`, perhaps no body follows.
  if (complete || headers.expect !== undefined) return;
  const { destroySoon } = socket;
  socket.destroySoon = () => {
    incoming.once('close', () => socket.destroySoon());
  };
  // The next `finish` listener, which is Node.js's own, calls the changed function; the original is back after that.
  queueMicrotask(() => {
    socket.destroySoon = destroySoon;
  });
}

/**
 * Reads the rest of a body after an early response, as long as data arrives. A connection closed with unread bytes is
 * reset, and a client that is still sending would lose the response. Many clients read only once they have sent all,
 * and so do proxies, which then respond 502.
 */
function discardRest(incoming: IncomingMessage, bytes: number, least: ReadingRate): void {
  if (incoming.complete && incoming.readableLength === 0) {
    incoming.resume();
    return;
  }
  let left = bytes;
  let arrived = 0;
  const close = () => {
    incoming.off('data', count).pause();
    incoming.socket.destroySoon();
  };
  const count = (chunk: Buffer) => {
    arrived += chunk.length;
    left -= chunk.length;
    if (left < 0) close();
  };
  const timer = setInterval(() => {
    if (arrived < least.bytes) close();
    arrived = 0;
  }, least.milliseconds);
  timer.unref();
  const stop = () => {
    clearInterval(timer);
    incoming.socket.off('close', stop);
  };
  incoming.once('close', stop);
  // If the connection ends after the response, Node.js emits no `close` of the request.
  incoming.socket.once('close', stop);
  incoming.on('error', () => undefined);
  incoming.on('data', count);
  incoming.resume();
}

/** Number of checks in one period of the reading rate. */
const LOOKS = 4;

/**
 * Cuts connections whose clients read a response, or send an awaited body, more slowly than the rate. For a response it
 * measures what the client's system has acknowledged: send buffers hold megabytes and drain in bursts, so that an idle
 * timeout would cut slow lines, and keep a client that reads a byte now and then. A period is four checks: by the
 * clock, a pause of this process, in which nothing is sent or read, would cut all clients.
 */
function cutSlowClients(server: Server, { bytes, milliseconds }: ReadingRate): void {
  const exchanges = new Map<ServerResponse, (Progress & { readonly look: number }) | undefined>();
  server.on('request', (_: IncomingMessage, outgoing: ServerResponse) => {
    exchanges.set(outgoing, undefined);
    outgoing.once('close', () => exchanges.delete(outgoing));
  });
  let look = 0;
  const check = () => {
    look += 1;
    const late = [...exchanges].filter(([{ req }]) => isRead(req) || isAwaited(req));
    const queues = late.some(([{ req }]) => isRead(req)) ? sendQueues() : new Map<string, number>();
    for (const outgoing of exchanges.keys()) exchanges.set(outgoing, undefined);
    for (const [outgoing, before] of late) {
      const { socket } = outgoing.req;
      const now = { look, ...progressOf(socket, queues) };
      const inTime = before === undefined || look - before.look < LOOKS;
      if (!inTime && bytesBetween(before, now) < bytes) socket.destroy();
      exchanges.set(outgoing, inTime ? (before ?? now) : now);
    }
  };
  const timer = setInterval(check, milliseconds / LOOKS);
  timer.unref();
  server.once('close', () => clearInterval(timer));
}

/** Whether a response to the request waits for its reader. */
function isRead({ socket }: IncomingMessage): boolean {
  return socket.writableLength > 0;
}

/** Whether the body of the request is incomplete and this process has read all that has arrived. */
function isAwaited({ complete, readableLength }: IncomingMessage): boolean {
  return !complete && readableLength === 0;
}

type Progress = ReturnType<typeof progressOf>;

function progressOf(socket: Socket, queues: ReadonlyMap<string, number>) {
  return {
    received: socket.bytesRead,
    /** Bytes of completed writes that the system has accepted. */
    taken: socket.bytesWritten - socket.writableLength,
    /** Bytes of the current write that the system has not accepted. */
    untaken: untaken(socket),
    /** Bytes that the system has accepted and the client has not acknowledged. */
    queued: queues.get(connectionOf(socket)) ?? 0,
  };
}

function bytesBetween(from: Progress, to: Progress): number {
  const begun = Math.max(0, from.untaken - to.untaken);
  return to.received - from.received + to.taken - from.taken + begun + from.queued - to.queued;
}

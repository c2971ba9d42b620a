import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { connectionOf, sendQueues, untaken } from '../../../platform/files/socket-progress';
import type { ReadingRate } from '../../service-settings';
import { tokenIn } from '../request-origin';

export interface Timeouts {
  /** Milliseconds for the head of a request. */
  readonly head: number;
  /** Milliseconds without any transfer, until the response has begun. */
  readonly idle: number;
  /** Milliseconds for a body. A form that may contain files has no limit as long as it moves. */
  readonly body: number;
  /** Whether a form without a token may contain files. */
  readonly anonymousFiles?: boolean | undefined;
  readonly read: ReadingRate;
  /** Bytes of a body that are still read after an early response, if they arrive at the reading rate. */
  readonly rest: number;
}

/** Timeouts with defaults for all that is no setting. */
export type SomeTimeouts = Partial<Timeouts> & Pick<Timeouts, 'read' | 'rest'>;

const defaults: Omit<Timeouts, 'read' | 'rest'> = {
  head: 20_000,
  idle: 30_000,
  body: 60_000,
};

/**
 * Makes a server cut connections that stall, and send `100 Continue` only when the app reads the body. Call it before
 * the server listens.
 */
export function limitTimes(server: Server, timeouts: SomeTimeouts): void {
  const { head, idle, body, anonymousFiles = false, read, rest } = { ...defaults, ...timeouts };
  server.headersTimeout = head;
  // Node.js reads the interval of its checks here, but @types/node has it as an option of the constructor only.
  Object.assign(server, { connectionsCheckingInterval: Math.min(head, 5000) });
  server.timeout = idle;
  server.on('timeout', (socket: Socket) => {
    // A client that has a response to read is subject to the reading rate instead.
    if (socket.writableLength > 0) socket.setTimeout(idle);
    else socket.destroy();
  });
  cutSlowReaders(server, read);
  server.requestTimeout = 0;
  server.on('checkContinue', (incoming, outgoing) => {
    // Without `100 Continue`, nobody knows whether the body follows. Node.js closes such a connection by itself.
    outgoing.setHeader('connection', 'close');
    server.emit('request', incoming, outgoing);
  });
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { 'content-length': length, 'transfer-encoding': coding } = incoming.headers;
    if ((length ?? coding) === undefined) return;
    if (!mayContainFiles(incoming, anonymousFiles)) limitBody(incoming, outgoing, body);
    // Otherwise Node.js discards a body that nobody reads, of any size.
    incoming.read(0);
    outgoing.prependOnceListener('finish', () => delayClosing(incoming));
    outgoing.once('finish', () => discardRest(incoming, rest, read));
  });
}

/** An invalid token is refused before the body is read. */
function mayContainFiles({ headers, url = '' }: IncomingMessage, anonymous: boolean): boolean {
  const isForm = /^multipart\//i.test(headers['content-type'] ?? '');
  // An answer to an unknown request is refused before its body is read too.
  const answers = /^\/r\/[^/]+$|^\/api\/v2\/requests\/[^/]+\/respond/.test(url);
  const token = tokenIn(headers.authorization) ?? headers['x-user-token'];
  return isForm && (anonymous || answers || token !== undefined);
}

/** Until the response: what is only discarded then has a limit of its own. */
function limitBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  milliseconds: number,
): void {
  const timer = setTimeout(() => incoming.complete || incoming.socket.destroy(), milliseconds);
  timer.unref();
  const stop = () => clearTimeout(timer);
  incoming.once('close', stop);
  outgoing.once('finish', stop);
}

/**
 * Node.js closes a connection with its last response, though the body may be on its way: this waits until it was read.
 * Call it before Node's own listener.
 */
function delayClosing(incoming: IncomingMessage): void {
  const { complete, headers, socket } = incoming;
  // Without `100 Continue`, perhaps no body follows.
  if (complete || headers.expect !== undefined) return;
  const { destroySoon } = socket;
  socket.destroySoon = () => {
    incoming.once('close', () => socket.destroySoon());
  };
  // Node's listener is next.
  queueMicrotask(() => {
    socket.destroySoon = destroySoon;
  });
}

/**
 * Reads the rest of a body after an early response, as long as it moves: a client that is still sending would lose the
 * response of a connection that is closed with unread bytes, as it is reset. Many read only once they have sent all,
 * proxies among them, which then say 502.
 */
function discardRest(incoming: IncomingMessage, bytes: number, least: ReadingRate): void {
  if (incoming.complete && incoming.readableLength === 0) return void incoming.resume();
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
  incoming.once('close', () => clearInterval(timer));
  incoming.on('error', () => undefined);
  incoming.on('data', count);
  incoming.resume();
}

/** How often it looks in a period. */
const LOOKS = 4;

/**
 * Cuts connections whose clients read a response more slowly than the rate. It measures what the client's system has
 * acknowledged: send buffers hold megabytes and drain in bursts, so that an idle timeout would cut slow lines, and keep
 * a client that reads a byte now and then. A period is four looks: by the clock, all readers would be cut after a pause
 * of this process, in which nothing was sent.
 */
function cutSlowReaders(server: Server, { bytes, milliseconds }: ReadingRate): void {
  const responses = new Map<ServerResponse, (Progress & { readonly look: number }) | undefined>();
  server.on('request', (_: IncomingMessage, outgoing: ServerResponse) => {
    responses.set(outgoing, undefined);
    outgoing.once('close', () => responses.delete(outgoing));
  });
  let look = 0;
  const check = () => {
    look += 1;
    const late = [...responses].filter(([{ req }]) => req.socket.writableLength > 0);
    const queues = late.length > 0 ? sendQueues() : new Map<string, number>();
    for (const outgoing of responses.keys()) responses.set(outgoing, undefined);
    for (const [outgoing, before] of late) {
      const { socket } = outgoing.req;
      const now = { look, ...progressOf(socket, queues) };
      const inTime = before === undefined || look - before.look < LOOKS;
      if (!inTime && bytesBetween(before, now) < bytes) socket.destroy();
      responses.set(outgoing, inTime ? (before ?? now) : now);
    }
  };
  const timer = setInterval(check, milliseconds / LOOKS);
  timer.unref();
  server.once('close', () => clearInterval(timer));
}

type Progress = ReturnType<typeof progressOf>;

function progressOf(socket: Socket, queues: ReadonlyMap<string, number>) {
  return {
    /** Bytes of completed writes that the system has accepted. */
    taken: socket.bytesWritten - socket.writableLength,
    /** Bytes of the current write that it has not accepted. */
    untaken: untaken(socket),
    /** Bytes that it has accepted and the client has not acknowledged. */
    queued: queues.get(connectionOf(socket)) ?? 0,
  };
}

function bytesBetween(from: Progress, to: Progress): number {
  const begun = Math.max(0, from.untaken - to.untaken);
  return to.taken - from.taken + begun + from.queued - to.queued;
}

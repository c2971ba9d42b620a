import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ReadingRate } from '../service-settings';
import type { Connection } from './caller';
import { cutSlowReaders } from './slow-readers';

export interface Patience {
  /** Milliseconds that the head of a request may take to come. */
  readonly head: number;
  /** Milliseconds in which something must move until an answer is under way. */
  readonly idle: number;
  /** Milliseconds that a body may take to come; a form that may bring files, as long as it moves. */
  readonly body: number;
  /** How fast an answer must be read. */
  readonly read: ReadingRate;
  /** How much more is read, for how many milliseconds, of a body that was answered before its end. */
  readonly rest: { readonly bytes: number; readonly milliseconds: number };
}

/** What is left out is usual. */
export type SomePatience = Partial<Patience> & Pick<Patience, 'read'>;

const usual: Omit<Patience, 'read'> = {
  head: 20_000,
  idle: 30_000,
  body: 60_000,
  rest: { bytes: 64 * 1024 * 1024, milliseconds: 10_000 },
};

/** Has a server that does not listen yet cut who stands still, and wait with asking for a body (100 Continue) until somebody reads it. */
export function bePatient(server: Server, patience: SomePatience): void {
  const { head, idle, body, read, rest } = { ...usual, ...patience };
  server.headersTimeout = head;
  // How often it looks, which the types have for the constructor only.
  Object.assign(server, { connectionsCheckingInterval: Math.min(head, 5000) });
  server.timeout = idle;
  server.on('timeout', (socket: Socket) => {
    // Its client is to read, for which there is a rate.
    if (socket.writableLength > 0) socket.setTimeout(idle);
    else socket.destroy();
  });
  cutSlowReaders(server, read);
  server.requestTimeout = 0;
  server.on('checkContinue', (incoming, outgoing) => server.emit('request', incoming, outgoing));
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (!hasBody(incoming)) return;
    if (!mayBringFiles(incoming)) limit(incoming, body);
    // A body that nobody began to read would be discarded without a bound.
    incoming.read(0);
    outgoing.once('finish', () => discardRest(incoming, rest));
  });
}

/** A request as the application takes it, beyond what the platform's `Request` can say. */
export function connectionOf(incoming: IncomingMessage, outgoing: ServerResponse): Connection {
  return {
    ip: incoming.socket.remoteAddress,
    body() {
      if (incoming.headers.expect !== undefined) outgoing.writeContinue();
      // Leaving it early must not destroy the socket: the answer is still to be sent.
      return incoming.iterator({ destroyOnReturn: false });
    },
    closed: (listener) => outgoing.once('close', listener),
    cut: () => incoming.socket.destroy(),
  };
}

/** Files need a token; a token that is none is answered before the body. */
function mayBringFiles({ headers }: IncomingMessage): boolean {
  return /^multipart\//i.test(headers['content-type'] ?? '') && headers.authorization !== undefined;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

function limit(incoming: IncomingMessage, milliseconds: number): void {
  const timer = setTimeout(() => incoming.complete || incoming.socket.destroy(), milliseconds);
  timer.unref();
  incoming.once('close', () => clearTimeout(timer));
}

/**
 * Reads on for a while after an early answer. Whoever is still sending could not read it otherwise: a connection
 * that is closed over unread bytes is reset, and what was said on it is lost.
 */
function discardRest(incoming: IncomingMessage, { bytes, milliseconds }: Patience['rest']): void {
  if (incoming.complete && incoming.readableLength === 0) return void incoming.resume();
  let left = bytes;
  const close = () => {
    incoming.off('data', count).pause();
    incoming.socket.destroySoon();
  };
  const count = (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) close();
  };
  const timer = setTimeout(close, milliseconds);
  timer.unref();
  incoming.once('close', () => clearTimeout(timer));
  incoming.on('error', () => undefined);
  incoming.on('data', count);
  incoming.resume();
}

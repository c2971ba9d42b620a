import type { Socket } from 'node:net';
import { movement } from '../../system/socket-progress';
import { type StreamedBody, TransportError } from './transport';

type Connected = (error: Error | null, socket: Socket | null) => void;
export type Connector<Wanted = object> = (wanted: Wanted, callback: Connected) => unknown;

/** A streamed body on its way out, and what it knows when the request fails. */
export interface Outgoing {
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** The other side cannot have got all of it. */
  unfinished(): boolean;
  /** What the body itself threw, or that it stalled; undefined when the failure is an ordinary one. */
  failure(error: unknown, url: URL, options: { readonly timeout: number }): Error | undefined;
  /** The body of a refusal that came early: how far it was read, when the connection breaks after it. */
  refusal(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

/** The socket's high-water mark: undici asks for more before it took less than that. */
const AT_ONCE = 64 * 1024;

/** Prepares a body for one try at sending it. */
export function outgoing(body: StreamedBody): Outgoing {
  let left = body.length;
  let thrown: Error | undefined;
  return {
    headers: { 'content-length': String(body.length) },
    chunks: (async function* () {
      try {
        for await (const chunk of body) {
          left -= chunk.byteLength;
          // A long piece is waited for until the system took it; a short one is kept by the socket.
          yield chunk.byteLength < AT_ONCE ? Buffer.from(chunk) : chunk;
        }
      } catch (error) {
        thrown = error as Error;
        throw error;
      }
    })(),
    unfinished: () => left > 0,
    failure: (error, url, { timeout }) =>
      thrown ?? (error instanceof Stalled ? stalled(error, url, timeout, left > 0) : undefined),
    refusal,
  };
}

/** Nothing moved on a socket, in either direction. */
class Stalled extends Error {}

function stalled(error: Stalled, url: URL, timeout: number, sending: boolean): TransportError {
  const what = sending ? 'took no more of what is being sent' : 'did not answer';
  return new TransportError(`${url.host} ${what} within ${timeout} s`, {
    sent: true,
    timedOut: true,
    hint: 'allow more with --timeout SECONDS',
    cause: error,
  });
}

async function* refusal(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
  }
}

/**
 * A connector whose sockets suit a long body. They break only when nothing moved for `milliseconds`, and at
 * most a quarter more. And a write that fails because the other side has closed does not end them at once:
 * what it said before, such as 413, is still there to be read.
 */
export function patient<Wanted>(
  connector: Connector<Wanted>,
  milliseconds: number,
): Connector<Wanted> {
  return (wanted, callback) =>
    connector(wanted, (error, socket) => {
      if (socket) {
        breakWhenStill(socket, milliseconds);
        keepReading(socket);
      }
      callback(error, socket);
    });
}

const LOOKS = 4;

function breakWhenStill(socket: Socket, milliseconds: number): void {
  let last = movement(socket);
  let still = 0;
  const timer = setInterval(() => {
    const now = movement(socket);
    still = now === last ? still + 1 : 0;
    last = now;
    if (still >= LOOKS) socket.destroy(new Stalled());
  }, milliseconds / LOOKS);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
}

type Written = (error?: Error | null) => void;

/** The reading side, which gets what is left and then the end or the error, ends the socket instead. */
function keepReading(socket: Socket): void {
  const once = (done: Written) => (error?: Error | null) => {
    const { code } = (error ?? {}) as NodeJS.ErrnoException;
    if (code !== 'EPIPE' && code !== 'ECONNRESET') done(error);
  };
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  socket._write = (chunk, encoding, done) => write(chunk, encoding, once(done));
  if (writev) socket._writev = (chunks, done) => writev(chunks, once(done));
}

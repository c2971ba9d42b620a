import type { Socket } from 'node:net';
import type { StreamedBody } from '../../platform/context';
import { phrase } from '../../platform/errors';
import { socketProgress } from '../../platform/files/socket-progress';
import type { Connector } from './connect-options';
import { TransportError, timeoutError } from './network-errors';

export type UploadAttempt = ReturnType<typeof uploadOf>;

/** Bytes in a socket's buffer. undici requests the next chunk before it has written a chunk shorter than this. */
const HIGH_WATER_MARK = 64 * 1024;

export function uploadOf(body: StreamedBody) {
  let left = body.length;
  let thrown: Error | undefined;
  return {
    headers: { 'content-length': String(body.length) },
    chunks: (async function* () {
      try {
        for await (const chunk of body) {
          left -= chunk.byteLength;
          // A short chunk is copied, since its buffer may be reused while the chunk waits in the socket.
          yield chunk.byteLength < HIGH_WATER_MARK ? Buffer.from(chunk) : chunk;
        }
      } catch (error) {
        thrown = error as Error;
        throw error;
      }
    })(),
    unfinished: () => left > 0,
    /** Returns the error of reading the body, or a timeout error for a stall; undefined for any other cause. */
    error: (cause: unknown, { host }: URL, { timeout }: { readonly timeout: number }) => {
      if (thrown || !(cause instanceof Stalled)) return thrown;
      const name = left > 0 ? 'takes-no-more' : 'no-response';
      return timeoutError(phrase(name, host, timeout), true, cause);
    },
    refusal,
  };
}

class Stalled extends Error {}

/** Yields the body of an early refusal, and ends without an error where the connection breaks. */
async function* refusal(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
  }
}

/**
 * Returns a connector for long uploads. Its sockets are destroyed when no data is transferred for `milliseconds`, or at
 * most a quarter more. A write that fails because the other side has closed the connection does not destroy them, so
 * that an early response, such as 413, can still be read.
 */
export function uploadConnector<To>(connector: Connector<To>, milliseconds: number): Connector<To> {
  return (to, callback) =>
    connector(to, (error, socket) => {
      if (socket) {
        destroyStalled(socket, milliseconds);
        keepReading(socket);
      }
      callback(error, socket);
    });
}

const CHECKS = 4;

function destroyStalled(socket: Socket, milliseconds: number): void {
  let last = socketProgress(socket);
  let unchanged = 0;
  const timer = setInterval(() => {
    const now = socketProgress(socket);
    unchanged = now === last ? unchanged + 1 : 0;
    last = now;
    if (unchanged >= CHECKS) socket.destroy(new Stalled());
  }, milliseconds / CHECKS);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
}

type Written = (error?: Error | null) => void;

/** Ignores write errors of a closed connection. The socket ends after everything was read. */
function keepReading(socket: Socket): void {
  const withoutClosed = (done: Written) => (error?: Error | null) => {
    const { code } = (error ?? {}) as NodeJS.ErrnoException;
    if (code !== 'EPIPE' && code !== 'ECONNRESET') done(error);
  };
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  socket._write = (chunk, encoding, done) => write(chunk, encoding, withoutClosed(done));
  if (writev) socket._writev = (chunks, done) => writev(chunks, withoutClosed(done));
}

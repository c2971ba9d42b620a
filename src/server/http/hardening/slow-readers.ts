import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { connectionOf, sendQueues, untaken } from '../../../platform/files/socket-progress';
import type { ReadingRate } from '../../service-settings';

/** How often it looks in a period. */
const LOOKS = 4;

/**
 * Cuts connections whose clients read a response more slowly than the rate. It measures what the client's system has
 * acknowledged: send buffers hold megabytes and drain in bursts, so that an idle timeout would cut slow lines, and keep
 * a client that reads a byte now and then. A period is four looks: by the clock, all readers would be cut after a pause
 * of this process, in which nothing was sent.
 */
export function cutSlowReaders(server: Server, { bytes, milliseconds }: ReadingRate): void {
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

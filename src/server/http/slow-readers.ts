import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { connectionOf, sendQueues, untaken } from '../../system/socket-progress';
import type { ReadingRate } from '../service-settings';

/** How far an answer had come at some time. */
interface Mark {
  readonly at: number;
  /** Bytes of whole writes that the system has taken. */
  readonly taken: number;
  /** Bytes of the write under way that it has not. */
  readonly untaken: number;
  /** Bytes that it has taken and nobody has acknowledged. */
  readonly queued: number;
}

/**
 * Cuts the connections of clients who read an answer more slowly than that. What counts is what the client's system
 * has acknowledged: the queues between hold megabytes and move in leaps, so that a time-out for a socket that stands
 * still takes a slow line for one that is dead, and a client that reads a byte now and then for one that reads.
 */
export function cutSlowReaders(server: Server, { bytes, milliseconds }: ReadingRate): void {
  const answers = new Map<ServerResponse, Mark | undefined>();
  server.on('request', (_: IncomingMessage, outgoing: ServerResponse) => {
    answers.set(outgoing, undefined);
    outgoing.once('close', () => answers.delete(outgoing));
  });
  const look = () => {
    const late = [...answers].filter(([{ req }]) => req.socket.writableLength > 0);
    const queues = late.length > 0 ? sendQueues() : new Map<string, number>();
    for (const outgoing of answers.keys()) answers.set(outgoing, undefined);
    for (const [outgoing, mark] of late) {
      const { socket } = outgoing.req;
      const now = markOf(socket, queues);
      const inTime = mark === undefined || now.at - mark.at < milliseconds;
      if (!inTime && progress(mark, now) < bytes) socket.destroy();
      answers.set(outgoing, inTime ? (mark ?? now) : now);
    }
  };
  const timer = setInterval(look, milliseconds / 4);
  timer.unref();
  server.once('close', () => clearInterval(timer));
}

function markOf(socket: Socket, queues: ReadonlyMap<string, number>): Mark {
  return {
    at: performance.now(),
    taken: socket.bytesWritten - socket.writableLength,
    untaken: untaken(socket),
    queued: queues.get(connectionOf(socket)) ?? 0,
  };
}

function progress(from: Mark, to: Mark): number {
  const begun = Math.max(0, from.untaken - to.untaken);
  return to.taken - from.taken + begun + from.queued - to.queued;
}

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

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
    const before = waiting.get(socket);
    if (!before) {
      waiting.set(socket, []);
      begin([incoming, outgoing]);
    } else if (before.length < MAX_PIPELINED) {
      before.push([incoming, outgoing]);
      // Later, as Node.js resumes the socket at the end of the request.
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

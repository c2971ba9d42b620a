import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of a connection that may wait for the answer before them. */
const WAITING = 16;

type Exchange = readonly [IncomingMessage, ServerResponse];

/**
 * Has a server take the next request of a connection (RFC 9112, 9.3.2) when the answer before it has been sent: Node.js
 * takes all at once, so that few bytes ask for a hundred answers that nobody reads. Who sends too many ahead is cut:
 * Node.js parses a whole read, and keeps each request in it.
 */
export function takeOneAtATime(server: Server): void {
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
    } else if (before.length < WAITING) {
      before.push([incoming, outgoing]);
      // Node.js resumes the socket at the end of the request.
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

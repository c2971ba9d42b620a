import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Milliseconds that running requests have after a stop was asked for. */
export const GRACE = 30_000;

/**
 * Watches a server's connections from now on; what it answers stops the server: no new connections, idle ones are
 * closed, running requests finish, for `grace` milliseconds at most.
 */
export function stopper(server: Server, secure: boolean, grace = GRACE): () => Promise<void> {
  const connections = new Set<Socket>();
  const speaking = new Set<Socket>();
  const running = new Set<ServerResponse>();
  let stopping = false;
  // Node's own takes an answer that was ended for one that was sent, and cuts it off.
  server.closeIdleConnections = () => undefined;

  // A connection that has not said anything yet counts as active to Node, but owes and is owed nothing.
  const closeIdle = () => {
    const busy = new Set([...running].map(({ req }) => req.socket));
    for (const socket of speaking) if (!busy.has(socket)) socket.destroySoon();
  };
  server.on('connection', (socket: Socket) => keep(connections, socket));
  server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => keep(speaking, socket));
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

/** So that the client sends its next request to somebody else. */
function announceEnd(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

function keep(set: Set<Socket>, socket: Socket): void {
  set.add(socket);
  socket.once('close', () => set.delete(socket));
}

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** For which running requests may go on after a stop. */
export const GRACE_MS = 30_000;

/**
 * Tracks a server's connections from now on. The function returned stops the server: no new connections, idle ones are
 * closed, running requests finish within `grace` milliseconds.
 */
export function gracefulStop(
  server: Server,
  secure: boolean,
  grace = GRACE_MS,
): () => Promise<void> {
  const connections = new Set<Socket>();
  const ready = new Set<Socket>();
  const running = new Set<ServerResponse>();
  let stopping = false;
  // Node's own drops responses that are ended but not flushed.
  server.closeIdleConnections = () => undefined;

  // Node also counts a connection without any request as active.
  const closeIdle = () => {
    const busy = new Set([...running].map(({ req }) => req.socket));
    for (const socket of ready) if (!busy.has(socket)) socket.destroySoon();
  };
  server.on('connection', (socket: Socket) => track(connections, socket));
  server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => track(ready, socket));
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

/** Makes the client send its next request on another connection. */
function announceEnd(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

function track(set: Set<Socket>, socket: Socket): void {
  set.add(socket);
  socket.once('close', () => set.delete(socket));
}

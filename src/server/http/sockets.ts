import type { Server } from 'node:http';
import { type ConnectionLimit, connectionLimiter } from './connections';
import { stopper } from './graceful-stop';
import type { App } from './parts';
import { createServer, type Listening, listen, type Place, type ServerOptions } from './socket';
import { bePatient, type SomePatience } from './timeouts';
import type { Tls } from './tls';

/** The servers of one application, one at each place. */
export interface Sockets {
  readonly servers: readonly Server[];
  /** Throws a `ServiceError` that says which place cannot be listened at. */
  listen(): Promise<Listening[]>;
  /** No new connections; resolves when all that runs has ended, whether or not its client has left. */
  stop(): Promise<void>;
}

export interface SocketOptions extends ServerOptions {
  readonly tls: Tls | undefined;
  readonly patience: SomePatience;
  readonly connections: ConnectionLimit;
  /** Milliseconds after which a stop cuts off what still runs. */
  readonly grace: number;
}

export function createSockets(app: App, places: readonly Place[], options: SocketOptions): Sockets {
  const { tls, patience, connections, grace } = options;
  const limit = connectionLimiter(connections);
  const secure = tls !== undefined;
  const running = new Set<Promise<unknown>>();
  const all = places.map((place) => {
    const server = createServer(app, running, tls, options);
    limit(server, secure);
    bePatient(server, patience);
    return { place, server, stop: stopper(server, secure, grace) };
  });
  return {
    servers: all.map(({ server }) => server),
    listen: () => Promise.all(all.map(({ server, place }) => listen(server, place, secure))),
    stop: async () => {
      await Promise.all(all.map(({ stop }) => stop()));
      // A request goes on for a moment when its client has left.
      await Promise.allSettled(running);
    },
  };
}

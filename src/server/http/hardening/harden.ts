import type { Server } from 'node:http';
import { type ConnectionLimit, connectionLimiter } from './connection-limit';
import { gracefulStop } from './graceful-stop';
import { serializeRequests } from './pipelining';
import { limitTimes, type SomeTimeouts } from './timeouts';

export interface Limits {
  readonly timeouts: SomeTimeouts;
  readonly connections: ConnectionLimit;
  /** Milliseconds after which a stop aborts the requests that are still running. */
  readonly grace: number;
}

/**
 * All that stands between Node's server and clients that stall, flood or never leave; a reverse proxy does most of it
 * too. Returns what hardens a server, whose connections count together with those of the other ones. Call that after
 * the server's own listeners are set and before it listens; it returns what stops the server gracefully.
 */
export function hardening({ timeouts, connections, grace }: Limits) {
  const limitConnections = connectionLimiter(connections);
  return function harden(server: Server, secure: boolean): () => Promise<void> {
    serializeRequests(server);
    limitConnections(server);
    limitTimes(server, timeouts);
    return gracefulStop(server, secure, grace);
  };
}

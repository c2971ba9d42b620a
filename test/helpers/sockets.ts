import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import { createRequire } from 'node:module';
import { connect, type Socket } from 'node:net';
import { undiciTransport } from '../../src/client/transport/undici';
import type { HttpSettings } from '../../src/platform/context';
import type { CliError } from '../../src/platform/errors';
import { clientOver, failureOf } from './foreign';
import { type Listening, listen } from './listen';
import { type Outcome, type PlaceOptions, place } from './run';

/** A proxy: forwards plain requests, and tunnels by CONNECT; whatever is asked for, it goes to `port`. */
export async function proxying(port: number, tls?: ServerOptions): Promise<Listening> {
  const seen: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const note = (request: IncomingMessage) => {
    seen.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
  };
  const server = tls ? createHttpsServer(tls) : createServer();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    note(request);
    response.setHeader('content-type', 'application/json');
    response.end('{"edition":"by proxy"}');
  });
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => {
    note(request);
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) socket.on('error', () => {});
  });
  return { seen, headers, ...(await listen(server)) };
}

const { tick } = createRequire(import.meta.url)('undici/lib/util/timers.js') as {
  /** Moves the clock by at least as much, and runs the timers that are due. */
  tick(milliseconds: number): void;
};

/** Has more than so many seconds pass, of what undici takes for time: limits of more than a second count its ticks. */
export function pass(seconds: number): void {
  // Timers that were just set begin with a tick.
  tick(0);
  tick(seconds * 1000);
}

/** What a creation fails with at that address, over the real transport. */
export async function failingAt(base: string, options: Partial<HttpSettings> = {}): Promise<CliError> {
  const { send, close } = undiciTransport({ timeout: 30, env: {}, ...options });
  const api = clientOver({ base, send, repeats: false });
  return failureOf(api.create({ payload: 'x' })).finally(close);
}

/** Runs one command line with the real transport, in this process: where it does not matter which one it is. */
export async function overSocket(argv: readonly string[], options: PlaceOptions = {}): Promise<Outcome> {
  const here = place({ ...options, transport: undiciTransport });
  try {
    return await here.run(...argv);
  } finally {
    here.close();
  }
}

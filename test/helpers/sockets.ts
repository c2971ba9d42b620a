import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { undiciTransport } from '../../src/client/transport/undici';
import { type Listening, listen } from './listen';
import { type Conditions, type Outcome, place } from './run';

/** A proxy: forwards plain requests, and tunnels by CONNECT; whatever is asked for, it goes to `port`. */
export async function proxying(port: number): Promise<Listening> {
  const seen: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const note = (request: IncomingMessage) => {
    seen.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
  };
  const server = createServer((request, response) => {
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

/** Runs one command line with the real transport. */
export async function overSocket(argv: string[], conditions: Conditions = {}): Promise<Outcome> {
  const here = place({ ...conditions, transport: undiciTransport });
  try {
    return await here.run(...argv);
  } finally {
    here.close();
  }
}

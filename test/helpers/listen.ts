import { once } from 'node:events';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';

export interface Listens {
  readonly port: number;
  readonly url: string;
  /** Calls `listener` at each new connection. */
  onConnection(listener: () => void): void;
  /** Ends all connections. */
  dropAll(): void;
  /** The same, and resolves once the server has ended. */
  close(): Promise<void>;
}

/** Has a server listen on a free port of loopback. */
export async function listen(server: Server): Promise<Listens> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const dropAll = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    dropAll,
    onConnection: (listener) => void server.on('connection', listener),
    close: async () => {
      dropAll();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Connects a client to a port of this machine: when one of both sockets ends, so does the other. */
export function relay(client: Socket, port: number): Socket {
  const upstream = connect(port, '127.0.0.1');
  const pair = [client, upstream];
  for (const socket of pair)
    socket.on('error', () => {}).on('close', () => pair.forEach((one) => void one.destroy()));
  return upstream;
}

export interface Spoken {
  readonly socket: Socket;
  /** What came so far. */
  readonly text: () => string;
  /** All that came until the connection was closed. */
  readonly ended: Promise<string>;
}

/** Opens a connection to a port of this machine, and says so much. */
export function speak(port: number, ...said: (string | Uint8Array)[]): Spoken {
  const socket = connect(port, '127.0.0.1');
  for (const piece of said) socket.write(piece);
  let text = '';
  socket.setEncoding('utf8').on('data', (more) => {
    text += more;
  });
  socket.on('error', () => {});
  const ended = new Promise<string>((resolve) => socket.on('close', () => resolve(text)));
  return { socket, text: () => text, ended };
}

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { socketProgress, untaken } from '../../src/platform/files/socket-progress';
import { onLinux } from '../helpers/needs';

test('there is progress when the other side takes what the system holds', onLinux, async () => {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  const [other] = (await accepted) as [Socket];
  try {
    // More than a new connection may send unasked, and less than the system accepts.
    await new Promise((resolve) => socket.write(Buffer.alloc(1024 * 1024), resolve));
    const before = socketProgress(socket);
    const { bytesWritten } = socket;
    other.resume();
    await vi.waitUntil(() => socketProgress(socket) !== before, { timeout: 60_000 });
    expect({ left: untaken(socket), bytesWritten: socket.bytesWritten }).toEqual({
      left: 0,
      bytesWritten,
    });
  } finally {
    socket.destroy();
    other.destroy();
    server.close();
  }
});

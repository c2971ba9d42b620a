import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { gracefulStop } from '../../../src/server/http/hardening/connections';

test('an answer that is on its way when the stop comes arrives whole', async () => {
  const body = Buffer.alloc(16 * 1024 * 1024, 'x');
  const server = createServer();
  const stop = gracefulStop(server, false);
  const asked = new Promise<void>((resolve) => {
    server.on('request', (_, response) => {
      // Ended, as Node counts, but far from sent: the client reads nothing yet.
      response.end(body, () => {});
      resolve();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1').pause();
  socket.write('GET / HTTP/1.1\r\nhost: pw.test\r\n\r\n');
  await asked;
  const stopped = stop();
  let length = 0;
  for await (const chunk of socket) length += chunk.length;
  await stopped;
  expect(length).toBeGreaterThan(body.length);
});

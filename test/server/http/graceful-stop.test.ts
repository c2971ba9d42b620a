import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { gracefulStop } from '../../../src/server/http/hardening/connections';

test('a request that does not end is cut off when the time is up', async () => {
  const server = createServer();
  const stop = gracefulStop(server, false, 0);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const arrived = new Promise((resolve) => server.once('request', resolve));
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  const cut = new Promise<NodeJS.ErrnoException>((resolve) => request.once('error', resolve));
  await arrived;
  await stop();
  expect((await cut).code).toBe('ECONNRESET');
});

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

import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { gracefulStop } from '../../../src/server/http/hardening/connections';
import { listen } from '../../helpers/listen';

test('an answer that is on its way when the stop comes arrives whole', async () => {
  const body = Buffer.alloc(16 * 1024 * 1024, 'x');
  const server = createServer();
  const stop = gracefulStop(server, false);
  const { port } = await listen(server);
  const socket = connect(port, '127.0.0.1').pause();
  socket.write('GET / HTTP/1.1\r\nhost: pw.test\r\n\r\n');
  const [, response] = await once(server, 'request');
  // Ended, as Node counts, but far from sent: the client reads nothing yet.
  response.end(body, () => {});
  const stopped = stop();
  let length = 0;
  for await (const chunk of socket) length += chunk.length;
  await stopped;
  expect(length).toBeGreaterThan(body.length);
});

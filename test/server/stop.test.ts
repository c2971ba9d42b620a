import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { stopper } from '../../src/server/stop';

test('a request that does not end is cut off when the time is up', async () => {
  const server = createServer();
  const stop = stopper(server, false, 0);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const arrived = new Promise((resolve) => server.once('request', resolve));
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  const cut = new Promise<NodeJS.ErrnoException>((resolve) => request.once('error', resolve));
  await arrived;
  await stop();
  expect((await cut).code).toBe('ECONNRESET');
});

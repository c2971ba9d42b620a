import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { allOf, needsFile } from '../helpers/needs';
import { alsoBinary, peakOf, person, pushed, serveBuilt } from '../helpers/program';

// Clients that hold memory: the service takes no more than it was allowed, refuses the others, and serves on.

const MIB = 1024 * 1024;
const somebody = person();
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const needed = allOf(needsFile('/proc/self/status'), alsoBinary);
test('memory of senders that pause and readers that do not read is bounded', needed, async () => {
  const env = { ...somebody.env, PWPUSH_SERVE_MAX_BUFFER: '32MiB' };
  const service = await serveBuilt(env, ['--rate-limit', '100000/s', '--max-views', '100']);
  const { url, pid, stop } = service;
  const { host, port } = new URL(url);
  const client = (head: string) => {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    socket.write(`${head}\r\nHost: ${host}\r\n`);
    return socket;
  };
  // A mebibyte, of which JSON makes six.
  const payload = '\u0001'.repeat(MIB);
  const link = await pushed(service, payload, { expire_after_views: 100 });
  const path = link.slice(url.length).replace('/p/', '/api/v2/pushes/').replace(/\/r$/, '');
  const whole = async () => {
    const { payload } = (await (await fetch(url + path)).json()) as { payload?: string };
    return payload;
  };
  expect(await whole()).toBe(payload);
  const before = peakOf(pid);

  // 80 MiB of requests without their last byte, and 360 MiB of responses that nobody reads.
  const part = Buffer.alloc(MIB, ' ');
  const sent = Array.from({ length: 80 }, () => {
    const socket = client('POST /api/v2/pushes HTTP/1.1');
    socket.write(`Content-Type: application/json\r\nContent-Length: ${MIB + 1}\r\n\r\n`);
    return new Promise((resolve) => {
      socket.write(part, resolve);
      socket.once('data', resolve).once('close', resolve);
    });
  });
  await Promise.all(sent);
  const asked = Array.from({ length: 60 }, () => {
    const socket = client(`GET ${path} HTTP/1.1`);
    socket.write('\r\n');
    return Promise.race([once(socket, 'readable'), once(socket, 'close')]);
  });
  await Promise.all(asked);
  expect((await fetch(`${url}/up`)).status).toBe(200);
  // Of 440 MiB. The executable takes 80 to 160, as its runtime collects later.
  expect(peakOf(pid) - before).toBeLessThan(200);

  for (const socket of sockets.splice(0)) socket.destroy();
  await expect.poll(whole, { message: 'a response comes whole' }).toBe(payload);
  expect((await stop()).code).toBe(0);
});

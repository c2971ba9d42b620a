import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { resultOf } from '../helpers/history';
import { needsFile } from '../helpers/needs';
import { noted } from '../helpers/noted';
import { alsoBinary, person, serveBuilt } from '../helpers/program';

// Clients that hold memory: the service takes no more than it was allowed, refuses the others, and serves on.

const MIB = 1024 * 1024;
const somebody = person();
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** The most that a process ever had, in bytes (proc_pid_status(5)). */
function peakOf(pid: number): number {
  const [, kibibytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}

const post = (host: string, length: number) =>
  `POST /api/v2/pushes HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

/** A mebibyte, of which JSON makes six. */
const payload = '\u0001'.repeat(MIB);

describe('memory (needs /proc)', needsFile('/proc/self/status'), () => {
  test(
    'of senders that do not end and readers that do not read is bounded',
    alsoBinary,
    async () => {
      const service = await serveBuilt(somebody.env, [
        ...['--max-buffer', '32MiB', '--rate-limit', '100000/s', '--max-views', '100'],
      ]);
      const { url, pid, token, stop } = service;
      const { host, port } = new URL(url);
      const client = () => {
        const socket = connect(Number(port), '127.0.0.1');
        socket.on('error', () => {});
        sockets.push(socket);
        return socket;
      };
      /** Of the others, nobody reads the response. */
      const pushes = noted(async (n, method, path, { body, token }) => {
        if (n > 0) {
          const socket = client();
          socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
          await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
          return { status: 0, json: undefined };
        }
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
        const response = await fetch(url + path, {
          method,
          ...(body ? { headers, body: JSON.stringify(body) } : {}),
        });
        return { status: response.status, json: JSON.parse(await response.text()) };
      }, resultOf);
      const push = await pushes.create({ payload, expire_after_views: 100 }, { token });
      const whole = async () => (await pushes.retrieve(0, push)).json.payload;
      expect(await whole()).toBe(payload);
      const before = peakOf(pid);

      // 80 MiB of requests without their last byte, and 360 MiB of responses that nobody reads.
      const part = Buffer.alloc(MIB, ' ');
      const sent = Array.from({ length: 80 }, () => {
        const socket = client();
        socket.write(post(host, MIB + 1));
        return new Promise((resolve) => {
          socket.write(part, resolve);
          socket.once('data', resolve).once('close', resolve);
        });
      });
      await Promise.all(sent);
      await Promise.all(Array.from({ length: 60 }, (_, n) => pushes.retrieve(n + 1, push)));
      expect((await fetch(`${url}/up`)).status).toBe(200);
      expect(peakOf(pid) - before).toBeLessThan(120 * MIB);

      for (const socket of sockets.splice(0)) socket.destroy();
      await expect.poll(whole).toBe(payload);
      pushes.judge();
      expect((await stop()).code).toBe(0);
    },
  );
});

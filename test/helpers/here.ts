import { once } from 'node:events';
import { apiClient } from '../../src/client/client';
import type { HereEvent } from '../../src/contract/here-event';
import { type HereSettings, serveHere } from '../../src/server/serve-here';
import { speak } from './listen';
import { type TestClock, testClock } from './service';

interface Settings extends Omit<HereSettings, 'host' | 'port'> {
  readonly clock?: TestClock;
  readonly grace?: number;
}

/** What `--here` starts, on this machine, with the client of its user. */
export async function startHere(
  { clock = testClock(), grace, ...settings }: Settings,
  report: (event: HereEvent) => void = () => {},
) {
  const { now } = clock;
  const io = { log: () => {}, warn: () => {}, now, version: '0.1.0', grace };
  const here = await serveHere({ host: '127.0.0.1', port: 0, ...settings }, io, report);
  const { base, token, send } = here;
  const api = apiClient({ base, token, send, now, userAgent: 'test', sleep: async () => {} });
  return { ...here, api };
}

/** Sends a request with a key, and resets the connection when the response comes, or ends it before that. */
export async function lose(
  url: string,
  key: string,
  { method = 'GET', type = 'application/json', body = '', early = false } = {},
): Promise<void> {
  const { host, pathname, port } = new URL(url);
  const lines = [
    `${method} ${pathname} HTTP/1.1`,
    `host: ${host}`,
    `idempotency-key: "${key}"`,
    `content-type: ${type}`,
    `content-length: ${body.length}`,
  ];
  const { socket } = speak(Number(port), `${lines.join('\r\n')}\r\n\r\n${body}`);
  if (early) {
    await once(socket, 'connect');
    socket.destroySoon();
    return;
  }
  await once(socket, 'data');
  socket.resetAndDestroy();
}

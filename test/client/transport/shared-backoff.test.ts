import { expect, test } from 'vitest';
import { paced } from '../../../src/client/transport/shared-backoff';
import type { WireRequest } from '../../../src/client/transport/transport';

const request: WireRequest = { method: 'GET', url: 'https://pw.test/', headers: {} };

/** A clock that moves when it is told to. */
function world() {
  const sent: string[] = [];
  const told: number[] = [];
  const wakes: (() => void)[] = [];
  const pace = paced({
    send: async ({ url }) => {
      sent.push(url);
      return { status: 200, headers: {}, body: (async function* () {})() };
    },
    sleep: () => new Promise((resolve) => wakes.push(resolve)),
    waiting: (seconds) => void told.push(seconds),
  });
  return { ...pace, sent, told, wakes };
}

test('while one call waits nothing is sent, and one of them says so', async () => {
  const { send, sleep, waiting, sent, told, wakes } = world();
  await waiting(2, 429);
  const first = sleep(2000);
  await waiting(3, 429);
  const second = sleep(3000);
  const answer = send(request);
  expect(told).toEqual([2]);
  wakes[0]?.();
  await new Promise(setImmediate);
  expect(sent).toEqual([]);
  wakes[1]?.();
  await Promise.all([first, second, answer]);
  expect(sent).toEqual([request.url]);
  await waiting(4, 503);
  expect(told).toEqual([2, 4]);
});

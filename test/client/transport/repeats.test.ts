import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TransportError } from '../../../src/client/transport/network-errors';
import { place } from '../../helpers/run';
import { answering, broken, type Literal } from '../../helpers/wire';

// Every call against every way to fail: how often it was sent, what was waited for, and how it ends. What failed on a socket
// is told by undici.test.ts. docs/wire.md, "What a retrieval costs": retrieval and creation are repeated only when they
// never left.

const FILE = join(import.meta.dirname, '../../../LICENSE');

/** Each call by what it leaves: nothing; something each time; a view; a state, whose outcome must be known. */
const calls = [
  ['version', 'preview quyul5r5w08', 'audit quyul5r5w08', 'list', 'list expired'],
  ['push hunter2', `push --file ${FILE}`],
  ['get quyul5r5w08'],
  ['expire quyul5r5w08'],
];

type Outcome = readonly [code: number, requests: number, ...waits: number[]];

const saying = (status: number, wait?: number): Literal => ({
  status,
  headers: wait === undefined ? {} : { 'retry-after': `${wait}` },
});
const CUT: Literal = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"', cut: true };

test.each<[string, Literal | TransportError, Outcome, Outcome, Outcome, Outcome]>([
  ['broken before headers', broken(true), [11, 2], [11, 1], [11, 1], [11, 2]],
  ['broken in its body', CUT, [11, 2], [11, 1], [11, 1], [11, 2]],
  ['stalled', broken(true, true), [11, 1], [11, 1], [11, 1], [11, 1]],
  ['429', saying(429), [10, 1], [10, 1], [10, 1], [10, 1]],
  ['429, wait 40 s', saying(429, 40), [10, 2, 40], [10, 2, 40], [10, 1], [10, 2, 40]],
  ['500', saying(500), [1, 1], [11, 1], [11, 1], [11, 2]],
  ['502', saying(502), [1, 1], [11, 1], [11, 1], [11, 2]],
  ['502, wait 40 s', saying(502, 40), [1, 1], [11, 1], [11, 1], [11, 2]],
  ['503', saying(503), [1, 1], [11, 1], [11, 1], [11, 2]],
  ['503, wait 40 s', saying(503, 40), [1, 2, 40], [11, 1], [11, 1], [11, 3, 40]],
  ['504', saying(504), [1, 1], [11, 1], [11, 1], [11, 2]],
  ['an empty success', saying(200), [1, 1], [11, 1], [11, 1], [11, 2]],
])('once the request left: %s', async (_how, misdeed, ...outcomes) => {
  for (const [at, lines] of calls.entries())
    for (const line of lines) expect(await failing(line, misdeed), line).toEqual(outcomes[at]);
});

test('exits with 11 if the connection breaks and the second try is refused', async () => {
  expect(await failing('version', broken(true), broken(false))).toEqual([11, 2]);
});

/** The outcome where each request ends in that, and those after the first in `later`. */
async function failing(line: string, first: Literal | TransportError, later = first) {
  let requests = 0;
  const here = place({
    env: { PWPUSH_URL: 'https://pw.test', PWPUSH_EDITION: 'oss' },
    send: async ({ body }) => {
      if (body && typeof body !== 'string') for await (const _ of body);
      requests += 1;
      const answer = requests === 1 ? first : later;
      if (answer instanceof Error) throw answer;
      return answering(answer);
    },
  });
  const { code } = await here.run(...line.split(' '));
  return [code, requests, ...here.sleeps.map((milliseconds) => milliseconds / 1000)];
}

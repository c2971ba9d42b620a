import { describe, expect, test } from 'vitest';
import { asking } from '../helpers/foreign';
import { CREATED, EXPIRED, NOTIFIED, PREVIEWED, RETRIEVED, VERSION } from '../helpers/reference';
import { broken, json, type Literal } from '../helpers/wire';

// Which calls are sent again, and what is said; client/transport/repeats.test.ts has every call against every failure.
// A retrieval takes a view, a creation leaves a second secret behind, a notification is a second e-mail: those
// are repeated after no failure that may have had an effect.

const repeatable: [string[], Literal][] = [
  [['version'], json(200, VERSION)],
  [['preview', 'quyul5r5w08'], json(200, PREVIEWED)],
  [['audit', 'quyul5r5w08'], json(200, '{"logs":[]}')],
  [['expire', 'quyul5r5w08'], json(200, EXPIRED)],
  [['list'], json(200, '[]')],
  [['list', 'expired'], json(200, '[]')],
];

const once: [string[], Literal][] = [
  [['push'], json(201, CREATED)],
  [['get', 'quyul5r5w08'], json(200, RETRIEVED)],
  [['notify', 'quyul5r5w08', 'ann@example.com'], json(201, NOTIFIED)],
];

const all: [string[]][] = [...repeatable, ...once].map(([argv]) => [argv]);

/** The exit status, the number of requests, and the seconds of each wait. */
async function asked(answers: Parameters<typeof asking>[0], argv: string[]) {
  const env = { PWPUSH_EDITION: 'oss' };
  const { code, waits, sent } = await asking(answers, argv, { stdin: 'hunter2', env });
  return [code, sent.length, ...waits];
}

const cut = (answer: Literal): Literal => ({ ...answer, cut: true });
const wait = (status: number, retryAfter?: string): Literal => ({
  status,
  headers: {
    'content-type': 'text/plain',
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  },
  body: 'Retry later\n',
});

describe('a connection that broke after the request left', () => {
  test.each(repeatable)('%j: is tried once more, but not a third time', async (argv, answer) => {
    expect(await asked([broken(true), answer], argv)).toEqual([0, 2]);
    expect(await asked([cut(answer), answer], argv)).toEqual([0, 2]);
    expect(await asked([broken(true), broken(true)], argv)).toEqual([11, 2]);
  });

  test.each(once)('%j: is never tried again', async (argv, answer) => {
    expect(await asked([broken(true)], argv)).toEqual([11, 1]);
    expect(await asked([cut(answer)], argv)).toEqual([11, 1]);
  });
});

test.each(all)('%j: a request that never left is unreachable, and tried once', async (argv) => {
  expect(await asked([broken(false)], argv)).toEqual([9, 1]);
});

describe('429 with Retry-After', () => {
  const unharmed = once.filter(([[command]]) => command !== 'get');

  test.each([...repeatable, ...unharmed])('%j: is waited for', async (argv, answer) => {
    expect(await asked([wait(429, '7'), answer], argv)).toEqual([0, 2, 7]);
  });

  test('is never waited for by get', async () => {
    expect(await asked([wait(429, '7')], ['get', 'quyul5r5w08'])).toEqual([10, 1]);
  });

  test('is waited for as a date', async () => {
    const answers = [wait(429, 'Thu, 20 Aug 2026 11:06:57 GMT'), json(200, VERSION)];
    expect(await asked(answers, ['version'])).toEqual([0, 2, 12]);
  });

  test('again and again is waited for 60 s in all', async () => {
    const answers = [wait(429, '25'), wait(429, '35'), wait(429, '1')];
    expect(await asked(answers, ['version'])).toEqual([10, 3, 25, 35]);
  });

  test('of 0 is waited for a second, so that it cannot go on for ever', async () => {
    const answers = Array.from({ length: 61 }, () => wait(429, '0'));
    expect(await asked(answers, ['version'])).toEqual([10, 61, ...Array(60).fill(1)]);
  });

  test.each([
    ...['61', '999999999', 'Thu, 20 Aug 2026 11:07:46 GMT'],
    ...[undefined, 'soon', '-1', '1.5', '7 8'],
  ])('is not waited for when it says %j', async (value) => {
    expect(await asked([wait(429, value)], ['list'])).toEqual([10, 1]);
  });

  test('is waited for without a word with --quiet', async () => {
    const answers = [wait(429, '7'), json(200, VERSION)];
    const { code, stderr, waits } = await asking(answers, ['version', '--quiet']);
    expect([code, stderr, waits]).toEqual([0, '', [7]]);
  });
});

test.each(repeatable)('503 with Retry-After to %j is waited for', async (argv, answer) => {
  expect(await asked([wait(503, '7'), answer], argv)).toEqual([0, 2, 7]);
});

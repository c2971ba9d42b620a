import { describe, expect, test } from 'vitest';
import { sharedBackoff } from '../../../src/client/retry';
import type { TransportError } from '../../../src/client/transport/network-errors';
import { discardBody, readWhole, retryAfter } from '../../../src/client/transport/response';
import type { HttpRequest, Transport } from '../../../src/platform/context';
import { phrase } from '../../../src/platform/errors';
import { clientOver, failureOf } from '../../helpers/foreign';
import { answering } from '../../helpers/wire';

const now = new Date('2026-08-20T11:06:45.500Z');

describe('Retry-After', () => {
  test.each<[string, number]>([
    [' 120 ', 120],
    ['007', 7],
    ['999999999', 999_999_999],
    ['Thursday, 20-Aug-26 11:06:57 GMT', 12],
    ['Thu Aug 20 11:06:46 2026 GMT', 1],
  ])('%j is %d seconds', (value, seconds) => {
    expect(retryAfter({ headers: { 'retry-after': value } }, now)).toBe(seconds);
  });

  const nothing = [undefined, '', ' ', '-1', '1.5', '1e3', '7 s', 'soon', '1000000000'];
  test.each(nothing)('%j says nothing', (value) => {
    expect(retryAfter({ headers: { 'retry-after': value } }, now)).toBeUndefined();
  });
});

const request: HttpRequest = { method: 'GET', url: 'https://pw.test/', headers: {} };

test.each([
  ['60 s in all are waited for', ['25', '35', '1'], [25, 35]],
  ['0 is waited for a second, so as not to go on for ever', Array(61).fill('0'), Array(60).fill(1)],
  ['more than 60 s are not waited for', ['61'], []],
])('of 429 with Retry-After %s', async (_what, values, expected) => {
  const left = [...values];
  const waits: number[] = [];
  const send: Transport = async () => answering({ status: 429, headers: { 'retry-after': left.shift() ?? '' } });
  const sleep = async (milliseconds: number) => void waits.push(milliseconds / 1000);
  const { status } = await failureOf(clientOver({ send, sleep }).create({ payload: 'x' }));
  expect([status, waits, left]).toEqual([429, expected, []]);
});

test('while one call waits nothing is sent, and one of them says so', async () => {
  const sent: string[] = [];
  const told: number[] = [];
  const wakes: (() => void)[] = [];
  const { send, sleep, waiting } = sharedBackoff({
    send: async ({ url }) => {
      sent.push(url);
      return answering({ status: 200 });
    },
    sleep: () => new Promise((resolve) => wakes.push(resolve)),
    waiting: (seconds) => void told.push(seconds),
  });
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

describe('a response that comes in pieces', () => {
  /** Reads a response of so many pieces of that size, each after so many seconds. */
  async function read(pieces: number, bytes: number, seconds: number) {
    let time = now.getTime();
    const body = async function* () {
      for (let at = 0; at < pieces; at++) {
        time += seconds * 1000;
        yield Buffer.alloc(bytes, ' ');
      }
    };
    const response = { status: 200, headers: {}, body: body() };
    const read = readWhole(response, request.url, { now: () => new Date(time), timeout: 30 });
    return read.then(
      ({ body }) => body.length,
      (error: TransportError) => [...error.facts, error.sent, (time - now.getTime()) / 1000],
    );
  }

  test('a byte a second is given up', async () => {
    expect(await read(1000, 1, 1)).toEqual([phrase('too-slow', 'pw.test'), true, 121]);
  });

  test.each([
    ['is slow and short', 100, 1, 1],
    ['is on a slow line', 500, 20_000, 4],
    ['comes before and after a sleep of the machine', 2, 100, 100_000],
  ])('and %s is not', async (_what, pieces, bytes, seconds) => {
    expect(await read(pieces, bytes, seconds)).toBe(pieces * bytes);
  });
});

test.each([
  ['64 KiB and the piece that goes beyond', [40, 24, 1, 1], 3],
  ['four pieces', [0, 0, 0, 0, 0], 4],
  ['all of a small one', [1, 1], 2],
])('of an unwanted body is read: %s', async (_, kibibytes, pieces) => {
  let read = 0;
  async function* body() {
    for (const size of kibibytes) {
      read++;
      yield new Uint8Array(size * 1024);
    }
  }
  await discardBody(body());
  expect(read).toBe(pieces);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BodyBudget, Collected } from '../../../src/server/http/body-memory';
import { FORM_TYPE, filePart, formBytes, opened } from '../../helpers/service';

/** Each bit is of a kind that takes three hundred times its size for as long as it is kept. */
test('bytes come together however they are cut, and none of the bits is kept', () => {
  const size = fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 0, max: 9 }) },
    fc.integer({ max: 3000, min: 0 }),
    fc.integer({ max: 200_000, min: 0 }),
  );
  fc.assert(
    fc.property(fc.array(size, { maxLength: 40 }), (sizes) => {
      const gathered = new Collected();
      const all: Buffer[] = [];
      for (const [at, length] of sizes.entries()) {
        const bit = Buffer.alloc(length, at + 1);
        all.push(Buffer.from(bit));
        gathered.add(bit);
        bit.fill(0);
      }
      const whole = Buffer.concat(all);
      expect(gathered.size).toBe(whole.length);
      expect(gathered.whole().equals(whole)).toBe(true);
    }),
  );
});

const MIB = 1024 * 1024;
/** What each request may hold besides. */
const FREE = 16 * 1024;
const busy = expect.objectContaining({ kind: 'busy', details: { retryAfter: 5 } });

test('what all hold together is bounded, and what is refused or let go is free', () => {
  const budget = new BodyBudget(4 * MIB);
  const [first, second, third] = [1, 2, 3].map(() => budget.forRequest(undefined));
  first?.add(3 * MIB + FREE);
  expect(() => second?.add(MIB + FREE + 1)).toThrow(busy);
  second?.add(MIB + FREE);
  third?.add(FREE);
  expect(() => third?.add(1)).toThrow(busy);
  first?.release();
  third?.add(3 * MIB);
});

test('one client holds a quarter, wherever its requests come from', () => {
  const budget = new BodyBudget(4 * MIB);
  for (const half of [MIB / 2, MIB / 2]) budget.forRequest('a').add(half + FREE);
  expect(() => budget.forRequest('a').add(FREE + 1)).toThrow(busy);
  budget.forRequest('b').add(MIB);
});

test('the last quarter is for those who hold little, however many hold what they can', () => {
  const budget = new BodyBudget(4 * MIB);
  for (const client of 'abcdefgh') {
    const request = budget.forRequest(client);
    for (let kib = 0; kib < 1024; kib += 16) {
      try {
        request.add(16 * 1024);
      } catch {}
    }
  }
  budget.forRequest('i').add(64 * 1024);
  expect(() => budget.forRequest('a').add(32 * 1024)).toThrow(busy);
});

test('a line of IPv6 holds twice as much as a network of it', () => {
  const budget = new BodyBudget(8 * MIB);
  for (const network of [1, 2]) budget.forRequest(`2001:db8:0:${network}`).add(2 * MIB);
  expect(() => budget.forRequest('2001:db8:0:3').add(MIB)).toThrow(busy);
});

const form = formBytes([filePart('a', Buffer.alloc(510 * 1024))]);
const spaces = Buffer.alloc(7_200_000, ' ');

test.each([
  ['a body counts as it arrives', 'application/json', spaces, 5, 1],
  ['an upload counts with what it may hold', FORM_TYPE, form.subarray(0, -9), 60, 17],
])('%s, until it ends; small ones are taken nevertheless', async (_, type, bytes, count, refused) => {
  const service = await opened({ maxBuffer: 32 * MIB, anonymousFiles: true });
  /** Stands still before its end until its client has gone. */
  const standing = () => {
    let end = () => {};
    const content = new ReadableStream({
      start(controller) {
        controller.enqueue(bytes);
        end = () => controller.error(new Error('gone'));
      },
    });
    const answer = service.call('POST', '/api/v2/pushes', { content, headers: { 'content-type': type } });
    return { answer, end: () => end() };
  };
  const all = Array.from({ length: count }, standing);
  const answered = () => service.lines.map((line) => / (\d+) \d+ms/.exec(line)?.[1]);
  await expect.poll(answered, { message: 'refusals' }).toEqual(Array(refused).fill('503'));
  await service.create({ payload: 'small' });
  for (const { end } of all) end();
  await Promise.all(all.map(({ answer }) => answer));
  await service.createWithFiles(filePart('a', Buffer.alloc(MIB)));
});

test('a body that breaks off is refused, though what came of it is whole', async () => {
  const service = await opened();
  const body = new ReadableStream({
    start: (stream) => stream.enqueue(Buffer.from('{"push":{"payload":"x"}}')),
    pull: (stream) => stream.error(new Error('cut')),
  });
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body, duplex: 'half' } as const;
  const response = await service.fetch(new Request('http://pw.test/api/v2/pushes', init));
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('The body is incomplete.')]);
});

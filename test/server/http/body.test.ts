import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BodyBudget, Collected } from '../../../src/server/http/body-memory';

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
const busy = expect.objectContaining({ kind: 'busy', details: { retryAfter: 5 } });

test('what all hold together is bounded, and what is refused or let go is free', () => {
  const budget = new BodyBudget(4 * MIB);
  const [first, second, third] = [1, 2, 3].map(() => budget.forRequest(undefined));
  first?.add(3 * MIB);
  expect(() => second?.add(2 * MIB)).toThrow(busy);
  second?.add(MIB);
  expect(() => third?.add(MIB)).toThrow(busy);
  first?.release();
  third?.add(3 * MIB);
});

test('one client holds a quarter, wherever its requests come from', () => {
  const budget = new BodyBudget(4 * MIB);
  budget.forRequest('a').add(MIB / 2);
  budget.forRequest('a').add(MIB / 2);
  expect(() => budget.forRequest('a').add(MIB / 2)).toThrow(busy);
  budget.forRequest('b').add(MIB);
});

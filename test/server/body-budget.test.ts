import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Gathered } from '../../src/server/body-budget';

/** Each bit is of a kind that takes three hundred times its size for as long as it is kept. */
test('bytes come together however they are cut, and none of the bits is kept', () => {
  const size = fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 0, max: 9 }) },
    fc.integer({ max: 3000, min: 0 }),
    fc.integer({ max: 200_000, min: 0 }),
  );
  fc.assert(
    fc.property(fc.array(size, { maxLength: 40 }), (sizes) => {
      const gathered = new Gathered();
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

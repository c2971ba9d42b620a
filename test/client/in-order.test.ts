import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inOrder } from '../../src/client/in-order';
import { deferred } from '../helpers/deferred';
import { collectGarbage } from '../helpers/memory';

const rounds = async (count: number) => {
  for (let round = 0; round < count; round++) await new Promise(setImmediate);
};

async function takeEach<Result>(results: AsyncIterable<Result>, take: (result: Result) => unknown): Promise<void> {
  for await (const result of results) await take(result);
}

test('results come in the order of the items, and never more than the width run', async () => {
  const allDelays = fc.array(fc.tuple(fc.nat(5), fc.nat(2)), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(allDelays, fc.integer({ min: 1, max: 9 }), async (delays, width) => {
      let [running, most, taking] = [0, 0, 0];
      const taken: number[] = [];
      const work = async ([at, delay]: readonly [number, readonly [number, number]]) => {
        running += 1;
        most = Math.max(most, running);
        await rounds(delay[0]);
        running -= 1;
        return [at, delay[1]] as const;
      };
      const take = async ([at, delay]: readonly [number, number]) => {
        taking += 1;
        expect(taking).toBe(1);
        await rounds(delay);
        taken.push(at);
        taking -= 1;
      };
      await takeEach(inOrder(delays.entries(), work, width), take);
      expect(taken).toEqual([...delays.keys()]);
      expect(most).toBeLessThanOrEqual(width);
    }),
    { numRuns: 50 },
  );
});

test('a result does not wait for the next item', async () => {
  const item = deferred();
  const first = deferred();
  async function* slow() {
    yield 'first';
    await item.promise;
    yield 'second';
  }
  const words: string[] = [];
  const take = async (word: string) => {
    words.push(word);
    first.resolve();
  };
  const all = takeEach(
    inOrder(slow(), async (word) => word.toUpperCase()),
    take,
  );
  await first.promise;
  expect(words).toEqual(['FIRST']);
  item.resolve();
  await all;
  expect(words).toEqual(['FIRST', 'SECOND']);
});

test('others run while the first does, as many as the width', async () => {
  const first = deferred<number>();
  const begun: number[] = [];
  const taken: number[] = [];
  const work = async (at: number) => {
    begun.push(at);
    return at === 0 ? first.promise : at;
  };
  const all = takeEach(inOrder(Array(20).keys(), work, 3), (one) => taken.push(one));
  await rounds(20);
  expect([begun, taken]).toEqual([[0, 1, 2], []]);
  first.resolve(0);
  await all;
  expect(taken).toEqual([...Array(20).keys()]);
});

test('after an error nothing is begun, and what was begun is taken', async () => {
  const begun: number[] = [];
  const taken: number[] = [];
  const work = async (at: number) => {
    begun.push(at);
    if (at === 1) throw new Error('no 1');
    await rounds(5);
    return at;
  };
  const all = takeEach(inOrder(Array(100).keys(), work, 4), (one) => taken.push(one));
  await expect(all).rejects.toThrow('no 1');
  expect(begun.length).toBeLessThan(10);
  expect(taken).toEqual(begun.filter((at) => at !== 1));
});

test('an error does not wait for the next item', async () => {
  const items = async function* () {
    yield 1;
    await new Promise(() => {});
  };
  const failing = takeEach(inOrder(items(), Promise.resolve.bind(Promise)), async () => {
    throw new Error('full');
  });
  await expect(failing).rejects.toThrow('full');
});

test('a source that fails is told after what came before it is taken', async () => {
  async function* broken() {
    yield* [1, 2];
    throw new Error('no more');
  }
  const taken: number[] = [];
  const work = async (at: number) => rounds(5).then(() => at);
  const all = takeEach(inOrder(broken(), work), (one) => taken.push(one));
  await expect(all).rejects.toThrow('no more');
  expect(taken).toEqual([1, 2]);
});

test('memory does not grow with the items of a source that is slower than the work', async () => {
  async function* items() {
    for (let at = 0; at < 100_000; at++) {
      if (at % 50 === 0) await new Promise(setImmediate);
      yield at;
    }
  }
  let before = 0;
  await takeEach(
    inOrder(items(), async (item) => item),
    (at) => {
      if (at !== 1_000 && at !== 99_000) return;
      collectGarbage();
      const { heapUsed } = process.memoryUsage();
      if (before > 0) expect(heapUsed - before).toBeLessThan(2_000_000);
      before = heapUsed;
    },
  );
});

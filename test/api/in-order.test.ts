import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inOrder } from '../../src/api/in-order';

/** Work that settles when it is told to. */
function held<T>() {
  let settle = {} as { resolve: (value: T) => void; reject: (error: Error) => void };
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle };
}

const rounds = async (count: number) => {
  for (let round = 0; round < count; round++) await new Promise(setImmediate);
};

test('results come in the order of the items, and never more than the width run', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(5), { maxLength: 40 }),
      fc.integer({ min: 1, max: 9 }),
      async (delays, width) => {
        let running = 0;
        let most = 0;
        const work = async ([at, delay]: [number, number]) => {
          running += 1;
          most = Math.max(most, running);
          await rounds(delay);
          running -= 1;
          return at;
        };
        const results: number[] = [];
        for await (const at of inOrder(delays.entries(), work, width)) results.push(at);
        expect(results).toEqual([...delays.keys()]);
        expect(most).toBeLessThanOrEqual(width);
      },
    ),
    { numRuns: 50 },
  );
});

test('a result does not wait for the next item', async () => {
  const item = held<string>();
  async function* slow() {
    yield 'first';
    yield await item.promise;
  }
  const results = inOrder(slow(), async (word) => word.toUpperCase(), 8);
  expect(await results.next()).toEqual({ value: 'FIRST', done: false });
  item.resolve('second');
  expect(await results.next()).toEqual({ value: 'SECOND', done: false });
  expect(await results.next()).toEqual({ value: undefined, done: true });
});

test('as many as the width begin while the first still runs', async () => {
  const works = [held<string>(), held<string>()];
  const begun: number[] = [];
  const work = (at: number) => {
    begun.push(at);
    return works[at]?.promise ?? Promise.resolve('more');
  };
  const results = inOrder([0, 1, 2, 3], work, 3);
  const first = results.next();
  works[1]?.resolve('two');
  await rounds(9);
  expect(begun).toEqual([0, 1, 2]);
  works[0]?.resolve('one');
  expect([(await first).value, (await results.next()).value]).toEqual(['one', 'two']);
});

test('a failure comes at its place, and closes the source', async () => {
  let closed = false;
  function* items() {
    try {
      yield* [1, 2, 3];
    } finally {
      closed = true;
    }
  }
  const seen: number[] = [];
  const reading = async () => {
    const work = async (item: number) => {
      if (item > 1) throw new Error(`no ${item}`);
      return item;
    };
    for await (const item of inOrder(items(), work)) seen.push(item);
  };
  await expect(reading()).rejects.toThrow('no 2');
  expect({ seen, closed }).toEqual({ seen: [1], closed: true });
});

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { concurrentBatches, concurrentMap } from '../../src/client/concurrent-map';

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
        for await (const at of concurrentMap(delays.entries(), work, width)) results.push(at);
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
  const results = concurrentMap(slow(), async (word) => word.toUpperCase(), 8)[
    Symbol.asyncIterator
  ]();
  expect(await results.next()).toEqual({ value: 'FIRST', done: false });
  item.resolve('second');
  expect(await results.next()).toEqual({ value: 'SECOND', done: false });
  expect(await results.next()).toEqual({ value: undefined, done: true });
});

test('results of one turn come together, and a failure after those before it', async () => {
  const first = held<number>();
  const work = async (at: number) => {
    if (at === 3) throw new Error('no 3');
    return at === 0 ? first.promise : at;
  };
  const batches = concurrentBatches(Array(20).keys(), work, 3);
  const one = batches.next();
  await rounds(20);
  first.resolve(0);
  expect((await one).value).toEqual([0, 1, 2]);
  await expect(batches.next()).rejects.toThrow('no 3');
});

test('others run while the first does, until 2 * width - 1 are begun', async () => {
  const first = held<number>();
  const begun: number[] = [];
  const work = async (at: number) => {
    begun.push(at);
    return at === 0 ? first.promise : at;
  };
  const results = concurrentMap(Array(20).keys(), work, 3)[Symbol.asyncIterator]();
  const one = results.next();
  await rounds(20);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  first.resolve(0);
  expect([(await one).value, (await results.next()).value]).toEqual([0, 1]);
});

test('nothing is begun for a reader that has gone', async () => {
  const begun: number[] = [];
  const work = async (at: number) => begun.push(at);
  for await (const _ of concurrentMap(Array(100).keys(), work, 2)) break;
  const then = begun.length;
  await rounds(20);
  expect(begun.length).toBe(then);
});

test('a reader can go while the source has nothing yet, and what comes then is not begun', async () => {
  const item = held<string>();
  async function* slow() {
    yield 'first';
    yield await item.promise;
  }
  const begun: string[] = [];
  const work = async (word: string) => begun.push(word);
  for await (const _ of concurrentMap(slow(), work)) break;
  item.resolve('second');
  await rounds(20);
  expect(begun).toEqual(['first']);
});

test('a failure is told while the source has nothing yet', async () => {
  async function* slow() {
    yield 'first';
    await new Promise(() => {});
  }
  const work = async (word: string) => Promise.reject(new Error(`no ${word}`));
  await expect(concurrentMap(slow(), work)[Symbol.asyncIterator]().next()).rejects.toThrow(
    'no first',
  );
});

test('memory does not grow with the items of a source that is slower than the work', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  async function* items() {
    for (let at = 0; at < 100_000; at++) {
      if (at % 50 === 0) await new Promise(setImmediate);
      yield at;
    }
  }
  let before = 0;
  for await (const at of concurrentMap(items(), async (item) => item)) {
    if (at !== 1_000 && at !== 99_000) continue;
    collect();
    const { heapUsed } = process.memoryUsage();
    if (before > 0) expect(heapUsed - before).toBeLessThan(2_000_000);
    before = heapUsed;
  }
});

test('a source that fails is told after what came before it', async () => {
  async function* broken() {
    yield 1;
    yield 2;
    throw new Error('no more');
  }
  const results = concurrentMap(broken(), async (item) => item)[Symbol.asyncIterator]();
  expect([(await results.next()).value, (await results.next()).value]).toEqual([1, 2]);
  await expect(results.next()).rejects.toThrow('no more');
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
    for await (const item of concurrentMap(items(), work)) seen.push(item);
  };
  await expect(reading()).rejects.toThrow('no 2');
  expect({ seen, closed }).toEqual({ seen: [1], closed: true });
});

import { AT_ONCE } from './pages';

/**
 * Does `work` on each item, `width` at once, and yields the results in the order of the items. Reads no item before
 * there is room for it: at most `width` results are in the works or wait for an earlier one.
 * @throws the first error of `items` or `work`, after which nothing is begun, once the results of what was begun are
 * yielded
 */
export async function* inOrder<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  work: (item: Item) => Promise<Result>,
  width = AT_ONCE,
): AsyncGenerator<Result, void, undefined> {
  const source = (async function* () {
    yield* items;
  })();
  const errors: unknown[] = [];
  let isOver = false;
  const begin = () => {
    const place = { isBegun: false, results: results() };
    async function results(): Promise<Result[]> {
      const next = await source.next();
      if (next.done || isOver) return [];
      place.isBegun = true;
      return [await work(next.value)];
    }
    // The rejection is handled when the result has its turn.
    place.results.catch(() => {
      isOver = true;
    });
    return place;
  };
  const places = Array.from({ length: width }, begin);
  try {
    for (let place = places.shift(); place; place = places.shift()) {
      // An error is thrown without waiting for a slow source.
      if (errors.length > 0 && !place.isBegun) break;
      const results = await place.results.catch((error) => void errors.push(error));
      yield* results ?? [];
      if (!isOver && results?.length === 1) places.push(begin());
    }
  } finally {
    isOver = true;
  }
  if (errors.length > 0) throw errors[0];
}

import { AT_ONCE } from './pages';

/**
 * Calls `work` on each item, on `width` at once, and yields the results in the order of the items. It reads an item
 * only when fewer than `width` results are pending.
 * @throws the first error of `items` or `work`, after the results of all work that had begun; no other work begins
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
    // This handler stops new work. The loop below reports the error.
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

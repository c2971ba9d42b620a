import { pMapIterable } from 'p-map';
import { AT_ONCE } from './pages';

/**
 * Calls `work` on each item, at most `width` at once, and yields the results in the order of the items, each as soon as
 * those before it are yielded. Finished results wait for a slow one, so that it does not hold up the others; at most
 * `2 * width` items, with the one that was yielded last, have been begun and are not done with.
 * @throws (the iterator) the error of `work`, at its item's place, or of `items`
 */
export function concurrentMap<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  work: (item: Item) => Promise<Result>,
  width = AT_ONCE,
): AsyncIterable<Result> {
  return pMapIterable(items, work, { concurrency: width, backpressure: 2 * width - 1 });
}

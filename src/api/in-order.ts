/** How many requests run at once where there are many to make. */
export const AT_ONCE = 8;

/**
 * Does `work` on each item, at most `width` at once, and yields the results in the items' order, each as soon as those
 * before it are there. It never runs further ahead of its reader than that: memory does not grow with the items.
 * A failure comes at its item's place; what was begun after it is left to itself.
 */
export async function* inOrder<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  work: (item: Item) => Promise<Result>,
  width = AT_ONCE,
): AsyncGenerator<Result> {
  const source = iteratorOf(items);
  const ahead: Promise<Result>[] = [];
  let next: Promise<IteratorResult<Item>> | undefined;
  let ended = false;
  try {
    while (!ended || ahead.length > 0) {
      // A slow source must not keep back what is done already, nor the other way round.
      if (!ended && ahead.length < width) next ??= source.next();
      const first = ahead[0]?.then(ignore, ignore);
      const given = await Promise.race([next, first].filter((one) => one !== undefined));
      if (given === undefined) {
        yield await (ahead.shift() as Promise<Result>);
        continue;
      }
      next = undefined;
      if (given.done) ended = true;
      else ahead.push(handled(work(given.value)));
    }
  } finally {
    await source.return?.();
  }
}

function ignore(): void {}

/** A failure is told where the work is awaited, perhaps never: nobody else has to hear of it. */
export function handled<T>(work: Promise<T>): Promise<T> {
  work.catch(ignore);
  return work;
}

async function* each<Item>(items: AsyncIterable<Item> | Iterable<Item>) {
  yield* items;
}

function iteratorOf<Item>(items: AsyncIterable<Item> | Iterable<Item>) {
  return each(items)[Symbol.asyncIterator]();
}

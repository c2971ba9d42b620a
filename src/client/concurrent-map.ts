/** How many requests run at once where there are many to make. */
export const AT_ONCE = 8;

/**
 * Does `work` on each item, at most `width` at once, and yields the results in the items' order, each as soon as those
 * before it are there. While a slow one is waited for, others run: as many results again as may run are kept back for
 * it, and no more, so that memory does not grow with the items.
 * A failure comes at its item's place; what was begun after it is left to itself.
 */
export async function* inOrder<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  work: (item: Item) => Promise<Result>,
  width = AT_ONCE,
): AsyncGenerator<Result> {
  const source = iteratorOf(items);
  const ahead: Promise<Result>[] = [];
  let running = 0;
  let asking = false;
  let ended = false;
  let tell = ignore;

  // A loop, and not a promise that waits for the next one: those would pile up for as long as the source is the slow one.
  const begin = async (): Promise<void> => {
    if (asking) return;
    asking = true;
    while (!ended && running < width && ahead.length < 2 * width) {
      try {
        const given = await source.next();
        // The reader may have gone meanwhile.
        if (given.done === true) ended = true;
        else if (!ended) start(given.value);
      } catch (error) {
        ended = true;
        ahead.push(handled(Promise.reject(error)));
      }
      tell();
    }
    asking = false;
  };
  const start = (item: Item) => {
    running += 1;
    const result = handled(work(item));
    ahead.push(result);
    result.then(next, next);
  };
  const next = () => {
    running -= 1;
    void begin();
  };

  try {
    for (;;) {
      void begin();
      const first = ahead[0];
      if (first) {
        yield await first;
        ahead.shift();
      } else if (ended) {
        return;
      } else {
        await new Promise<void>((resolve) => {
          tell = resolve;
        });
      }
    }
  } finally {
    ended = true;
    const closed = handled(source.return());
    // What is asked closes only once it has answered, which may be never.
    if (!asking) await closed;
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

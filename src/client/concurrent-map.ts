import { AT_ONCE } from './pages';

interface Begun<Result> {
  outcome?: { readonly result: Result } | { readonly error: unknown };
}

/**
 * Calls `work` on each item, at most `width` at once, and yields the results in the order of the items, those together that
 * come in one turn of the event loop. Finished results wait for a slow one, so that it does not hold up the others; at
 * most `2 * width` items, with those that were yielded last, have been begun and are not done with.
 * @throws (the iterator) the error of `work`, at its item's place, or of `items`
 */
export async function* concurrentBatches<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  work: (item: Item) => Promise<Result>,
  width = AT_ONCE,
): AsyncGenerator<Result[]> {
  const source =
    Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const begun: Begun<Result>[] = [];
  let running = 0;
  let most = 2 * width - 1;
  let reading = false;
  let end: { readonly error?: unknown } | undefined;
  let wake = () => {};
  const run = async (item: Item) => {
    const one: Begun<Result> = {};
    begun.push(one);
    running++;
    try {
      one.outcome = { result: await work(item) };
    } catch (error) {
      one.outcome = { error };
    }
    running--;
    if (one === begun[0]) wake();
    void read();
  };
  /** Reads on while there is room. */
  const read = async () => {
    if (reading) return;
    reading = true;
    try {
      while (!end && running < width && begun.length < most) {
        const { done, value } = await source.next();
        if (done) end ??= {};
        if (!end) void run(value);
      }
    } catch (error) {
      end ??= { error };
    }
    reading = false;
    if (end) wake();
  };
  try {
    for (;;) {
      void read();
      if (!begun[0]?.outcome && !(end && begun.length === 0))
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      // What else arrives in this turn.
      await new Promise(setImmediate);
      const pending = begun.findIndex(({ outcome }) => !outcome || 'error' in outcome);
      const ready = begun.slice(0, pending === -1 ? begun.length : pending);
      if (ready.length > 0) {
        // One more, for those that are yielded.
        most = 2 * width;
        void read();
        yield ready.flatMap(({ outcome }) =>
          outcome && 'result' in outcome ? [outcome.result] : [],
        );
        begun.splice(0, ready.length);
        most = 2 * width - 1;
        continue;
      }
      const failed = begun[0] ? begun[0].outcome : end;
      if (failed && 'error' in failed) throw failed.error;
      if (!begun[0]) return;
    }
  } finally {
    end ??= {};
    void Promise.resolve(source.return?.()).catch(() => {});
  }
}

/** As `concurrentBatches`, one by one. */
export async function* concurrentMap<Item, Result>(
  ...all: Parameters<typeof concurrentBatches<Item, Result>>
): AsyncGenerator<Result> {
  for await (const results of concurrentBatches(...all)) yield* results;
}

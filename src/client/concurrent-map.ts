import { AT_ONCE } from './pages';

interface Begun<Result> {
  outcome?: { readonly result: Result } | { readonly error: unknown };
}

/** Begins work on items, in their order: at most `width` at once, and while fewer than `most` are begun. */
function beginner<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  work: (item: Item) => Promise<Result>,
  width: number,
) {
  const source =
    Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const begun: Begun<Result>[] = [];
  let running = 0;
  let reading = false;
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
    if (one === begun[0]) state.wake();
    void state.read();
  };
  const state = {
    begun,
    most: 2 * width - 1,
    /** There are no more items, or they failed. */
    end: undefined as { readonly error?: unknown } | undefined,
    /** Called when the first that is begun is done, and at the end. */
    wake: () => {},
    /** Reads on while there is room. */
    async read(): Promise<void> {
      if (reading) return;
      reading = true;
      try {
        while (!state.end && running < width && begun.length < state.most) {
          const { done, value } = await source.next();
          if (done) state.end ??= {};
          if (!state.end) void run(value);
        }
      } catch (error) {
        state.end ??= { error };
      }
      reading = false;
      if (state.end) state.wake();
    },
    stop(): void {
      state.end ??= {};
      void Promise.resolve(source.return?.()).catch(() => {});
    },
  };
  return state;
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
  const state = beginner(items, work, width);
  const { begun, read } = state;
  try {
    for (;;) {
      void read();
      if (!begun[0]?.outcome && !(state.end && begun.length === 0))
        await new Promise<void>((resolve) => {
          state.wake = resolve;
        });
      // What else arrives in this turn.
      await new Promise(setImmediate);
      const ready = resultsOf(begun);
      if (ready.length > 0) {
        // One more, for those that are yielded.
        state.most = 2 * width;
        void read();
        yield ready;
        begun.splice(0, ready.length);
        state.most = 2 * width - 1;
        continue;
      }
      const failed = begun[0] ? begun[0].outcome : state.end;
      if (failed && 'error' in failed) throw failed.error;
      if (!begun[0]) return;
    }
  } finally {
    state.stop();
  }
}

/** The results of the first ones, up to one that is not done or has failed. */
function resultsOf<Result>(begun: readonly Begun<Result>[]): Result[] {
  const results: Result[] = [];
  for (const { outcome } of begun) {
    if (!outcome || 'error' in outcome) break;
    results.push(outcome.result);
  }
  return results;
}

/** As `concurrentBatches`, one by one. */
export async function* concurrentMap<Item, Result>(
  ...all: Parameters<typeof concurrentBatches<Item, Result>>
): AsyncGenerator<Result> {
  for await (const results of concurrentBatches(...all)) yield* results;
}

import { AT_ONCE } from './pages';

/**
 * Does `work` on each item, `width` at once, and passes the results to `take` in the order of the items, those together
 * that come in one turn of the event loop. Reads no item before there is room for it: at most `width` results are in the
 * works or wait for an earlier one.
 * @throws the first error of `items`, `work` or `take`, after which nothing is begun, once the results of what was begun are
 * taken
 */
export async function inOrder<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  work: (item: Item) => Promise<Result>,
  take: (results: readonly Result[]) => Promise<void>,
  width = AT_ONCE,
): Promise<void> {
  const source = (async function* () {
    yield* items;
  })();
  const errors: unknown[] = [];
  let end = () => {};
  const failed = (error: unknown) => {
    errors.push(error);
    end();
  };
  /** In order, and not taken yet. */
  const ready: Result[] = [];
  let ordered = Promise.resolve();
  let taken = Promise.resolve();
  let coming: Promise<void> | undefined;
  const takeReady = async () => {
    await new Promise(setImmediate);
    coming = undefined;
    if (ready.length > 0) await take(ready.splice(0));
  };
  const worker = async () => {
    for (;;) {
      const next = await source.next();
      if (next.done || errors.length > 0) return;
      const result = work(next.value);
      // It is awaited later, at its turn.
      result.catch(() => {});
      ordered = ordered.then(async () => void ready.push(await result)).catch(failed);
      await ordered;
      coming ??= taken = taken.then(takeReady).catch(failed);
      await coming;
    }
  };
  const workers = Array.from({ length: width }, () => worker().catch(failed));
  // A slow source does not hold up an error.
  await new Promise<void>((resolve) => {
    end = resolve;
    void Promise.all(workers).then(end);
  });
  await ordered;
  await taken;
  if (errors.length > 0) throw errors[0];
}

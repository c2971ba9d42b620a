import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PageRange, pages } from '../../src/client/pages';

const numbers = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => from + at);

/** All rows of a listing, and which pages were asked for. */
async function read<Row>(
  pageOf: (page: number) => readonly Row[] | undefined,
  range: Partial<PageRange<Row>> = {},
) {
  const asked: number[] = [];
  const fetchPage = async (page: number) => {
    asked.push(page);
    return [...(pageOf(page) ?? [])];
  };
  const rows: Row[] = [];
  const all = { first: 1, last: 200, limit: Number.POSITIVE_INFINITY, ...range };
  for await (const some of pages(fetchPage, all)) rows.push(...some);
  return { rows, asked };
}

/** The same of a listing of `total` rows. */
const listed = (total: number, size: number, range?: Partial<PageRange<number>>) =>
  read(
    (page) => numbers((page - 1) * size, Math.max(0, Math.min(size, total - (page - 1) * size))),
    range,
  );

test('every row comes once, in order, and few pages are asked for beyond the end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(300), fc.integer({ min: 1, max: 60 }), async (total, size) => {
      const { rows, asked } = await listed(total, size);
      expect(rows).toEqual(numbers(0, Math.min(total, 200 * size)));
      const full = Math.ceil(total / size);
      // One page tells nothing of how long a page is, so a second one is asked for; later on, several at once.
      const beyond = Math.max(1, Math.min(8, Math.ceil(full / 2)));
      expect(asked.length).toBeLessThanOrEqual(Math.min(full + beyond, 200));
    }),
  );
});

test('a limit ends the listing, and no page beyond it is asked for', async () => {
  expect(await listed(1000, 50, { limit: 60 })).toEqual({ rows: numbers(0, 60), asked: [1, 2] });
  expect(await listed(1000, 50, { limit: 50 })).toEqual({ rows: numbers(0, 50), asked: [1] });
  expect(await listed(1000, 50, { limit: 1 })).toEqual({ rows: [0], asked: [1] });
});

test('only an empty page ends it: pages may differ in length', async () => {
  expect((await listed(100, 50)).asked).toEqual([1, 2, 3]);
  expect((await listed(0, 50)).asked).toEqual([1]);
  const { rows } = await read((page) => [[1, 2], [3], [4, 5, 6]][page - 1]);
  expect(rows).toEqual([1, 2, 3, 4, 5, 6]);
});

test('an instance that has the same page each time is not asked for ever', async () => {
  const { rows, asked } = await read(() => [1, 2], { key: String });
  expect([rows, asked]).toEqual([
    [1, 2],
    [1, 2],
  ]);
});

test('one page is one page', async () => {
  expect(await listed(1000, 50, { first: 3, last: 3 })).toEqual({
    rows: numbers(100, 50),
    asked: [3],
  });
});

test('page 200 is the last that is asked for', async () => {
  const { asked } = await listed(1_000_000, 50);
  expect(asked).toEqual(numbers(1, 200));
});

test('further on, eight pages are asked for at once', async () => {
  let running = 0;
  let most = 0;
  const fetchPage = async (page: number) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
    return page <= 40 ? [page] : [];
  };
  const rows: number[] = [];
  const range = { first: 1, last: 200, limit: Number.POSITIVE_INFINITY };
  for await (const some of pages(fetchPage, range)) rows.push(...some);
  expect(rows).toEqual(numbers(1, 40));
  expect(most).toBe(8);
});

test('a row that moved to the next page because another was made meanwhile comes once', async () => {
  const range = { key: (row: string) => row, skipRepeated: true };
  const { rows } = await read(
    (page) =>
      [
        ['c', 'b'],
        ['b', 'a'],
      ][page - 1],
    range,
  );
  expect(rows).toEqual(['c', 'b', 'a']);
});

test('a failing page ends the listing with its error, after the rows before it', async () => {
  const rows: number[] = [];
  const fetchPage = async (page: number) => {
    if (page === 2) throw new Error('gone');
    return [1, 2];
  };
  const listing = async () => {
    for await (const some of pages(fetchPage, { first: 1, last: 9, limit: 99 })) rows.push(...some);
  };
  await expect(listing()).rejects.toThrow('gone');
  expect(rows).toEqual([1, 2]);
});

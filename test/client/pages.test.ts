import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PageRange, pages } from '../../src/client/pages';
import { readAuditLog } from '../../src/client/progress';
import type { AuditEntry } from '../../src/contract/decode';

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at);

/** All rows of a listing, and which pages were asked for. */
async function read<Row>(pageOf: (page: number) => readonly Row[] | undefined, range?: PageRange<Row>) {
  const asked: number[] = [];
  const fetchPage = async (page: number) => {
    asked.push(page);
    return [...(pageOf(page) ?? [])];
  };
  const rows: Row[] = [];
  for await (const some of pages(fetchPage, range)) rows.push(...some);
  return { rows, asked };
}

/** The same of a listing of `total` rows. */
const listed = (total: number, size: number, range?: PageRange<number>) =>
  read((page) => numbers((page - 1) * size, Math.max(0, Math.min(size, total - (page - 1) * size))), range);

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

test.each<[string, PageRange<number>, number[], number[]]>([
  ['a limit', { limit: 60 }, numbers(0, 60), [1, 2]],
  ['a limit of a page', { limit: 50 }, numbers(0, 50), [1]],
  ['a limit of one', { limit: 1 }, [0], [1]],
  ['the last page', { first: 3, last: 3 }, numbers(100, 50), [3]],
  ['page 200', {}, numbers(0, 10_000), numbers(1, 200)],
])('%s ends the listing, and no page beyond it is asked for', async (_, range, rows, asked) => {
  expect(await listed(1_000_000, 50, range)).toEqual({ rows, asked });
});

test('only an empty page ends it: pages may differ in length', async () => {
  expect((await listed(100, 50)).asked).toEqual([1, 2, 3]);
  expect((await listed(0, 50)).asked).toEqual([1]);
  const { rows } = await read((page) => [[1, 2], [3], [4, 5, 6]][page - 1]);
  expect(rows).toEqual([1, 2, 3, 4, 5, 6]);
});

test('an instance that has the same page each time is not asked for ever', async () => {
  const { rows, asked } = await read(() => [1, 2], { key: String });
  expect({ rows, asked }).toEqual({ rows: [1, 2], asked: [1, 2] });
});

test('a row that moved to the next page because another was made meanwhile comes once', async () => {
  const range = { key: String, skipRepeated: true };
  const { rows } = await read((page) => ['cb', 'ba'][page - 1]?.split(''), range);
  expect(rows).toEqual(['c', 'b', 'a']);
});

test('a failing page ends the listing with its error, after the rows before it', async () => {
  const rows: number[] = [];
  const fetchPage = async (page: number) => {
    if (page === 2) throw new Error('gone');
    return [1, 2];
  };
  const listing = async () => {
    for await (const some of pages(fetchPage)) rows.push(...some);
  };
  await expect(listing()).rejects.toThrow('gone');
  expect(rows).toEqual([1, 2]);
});

// An audit log in every form that instances may give it: either order, pages of any length.

const event = (kind: string, created_at?: string | null) => ({ kind, created_at }) as AuditEntry;
const log = Array.from({ length: 119 }, (_, at) =>
  event(`event ${at}`, new Date(Date.UTC(2026, 7, 20) + at * 1000).toISOString()),
);
const paged = (events: readonly AuditEntry[], rows: number) => ({
  audit: async (page: number) => events.slice((page - 1) * rows, page * rows),
});

describe.each([
  ['oldest first', log],
  ['newest first', log.toReversed()],
])('%s', (_order, given) => {
  test.each([1, 7, 49, 50, 51, 119, 120])('in pages of %i it is whole and sorted', async (rows) => {
    expect(await readAuditLog(paged(given, rows), 'oldest')).toEqual(log);
    expect(await readAuditLog(paged(given, rows), 'newest')).toEqual(log.toReversed());
  });
});

const NOW = '2026-08-20T11:06:45.000Z';
const LATER = '2026-08-20T11:06:46.000Z';

test.each([
  ['of one time stay as they came', [NOW, NOW, LATER], 'cab'],
  ['without a time stay after the one before', [NOW, null, LATER], 'cab'],
  ['without a time at first are the oldest', ['yesterday', LATER], 'ba'],
])('events %s', async (_what, times, kinds) => {
  const events = times.map((time, at) => event('abc'[at] ?? '', time));
  const read = await readAuditLog(paged(events, 50), 'newest');
  expect(read.map(({ kind }) => kind).join('')).toBe(kinds);
});

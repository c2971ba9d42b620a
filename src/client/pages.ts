import { limits } from '../contract';
import { AT_ONCE, handled } from './concurrent-map';

export interface PageRange<Row> {
  /** The first page to ask for; 1. */
  readonly first?: number;
  /** The last page to ask for; 200, beyond which the API has none. */
  readonly last?: number;
  /** Rows in all; any number. */
  readonly limit?: number;
  /** What tells rows apart; an instance that answers the same page again and again is then asked no further. */
  readonly key?: (row: Row) => string;
  /** Leaves out a row that the page before had: a listing that grows meanwhile moves rows on. */
  readonly once?: boolean;
}

/**
 * Yields a listing page by page, until an empty page: how long a page is, is up to the instance. Further on several
 * are asked for at once, but only half as many as have come, so that few are asked for beyond the end.
 */
export async function* pages<Row>(
  fetchPage: (page: number) => Promise<Row[]>,
  range: PageRange<Row> = {},
): AsyncGenerator<Row[]> {
  const { first = limits.page.min, last = limits.page.max, key, once = false } = range;
  const ahead: Promise<Row[]>[] = [];
  let next = first;
  let left = range.limit ?? Number.POSITIVE_INFINITY;
  let longest = 0;
  let before: readonly string[] = [];
  for (let seen = 0; left > 0; seen++) {
    const wanted =
      seen === 0 ? 1 : Math.min(AT_ONCE, Math.ceil(seen / 2), Math.ceil(left / longest));
    while (ahead.length < wanted && next <= last) ahead.push(handled(fetchPage(next++)));
    const rows = await ahead.shift();
    if (rows === undefined || rows.length === 0) return;
    const keys = key ? rows.map(key) : [];
    if (isRepeated(keys, before)) return;
    const known = new Set(once ? before : []);
    const fresh = rows.filter((_, at) => !known.has(keys[at] ?? ''));
    yield fresh.slice(0, left);
    left -= fresh.length;
    longest = Math.max(longest, rows.length);
    before = keys;
  }
}

/** Whether a page is the one before it once more. Rows that are all alike may as well be more of the same. */
function isRepeated(keys: readonly string[], before: readonly string[]): boolean {
  const told = keys.length === 1 || new Set(keys).size > 1;
  return told && keys.length === before.length && keys.every((key, at) => key === before[at]);
}

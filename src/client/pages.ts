import { limits } from '../contract/api';

export const AT_ONCE = 8;

export interface PageRange<Row> {
  readonly first?: number;
  readonly last?: number;
  readonly limit?: number;
  /** Identifies a row, so that an instance that always returns the same page is noticed. */
  readonly key?: (row: Row) => string;
  /** Leaves out rows of the previous page: a push that is created meanwhile moves the others to later pages. */
  readonly skipRepeated?: boolean;
}

/**
 * Yields a listing page by page, up to an empty page, as instances differ in the length of a page. Requests several
 * pages at once, but at most half the number already read, so that few requests go past the end.
 */
export async function* pages<Row>(
  fetchPage: (page: number) => Promise<Row[]>,
  range: PageRange<Row> = {},
): AsyncGenerator<Row[]> {
  const { first = limits.page.min, last = limits.page.max, key, skipRepeated = false } = range;
  const ahead: Promise<Row[]>[] = [];
  let next = first;
  let left = range.limit ?? Number.POSITIVE_INFINITY;
  let longest = 0;
  let before: readonly string[] = [];
  for (let seen = 0; left > 0; seen++) {
    const wanted =
      seen === 0 ? 1 : Math.min(AT_ONCE, Math.ceil(seen / 2), Math.ceil(left / longest));
    while (ahead.length < wanted && next <= last) {
      const page = fetchPage(next++);
      // A reader that stops early does not await the page, whose error would be an unhandled rejection.
      page.catch(() => {});
      ahead.push(page);
    }
    const rows = await ahead.shift();
    if (rows === undefined || rows.length === 0) return;
    const keys = key ? rows.map(key) : [];
    if (isRepeated(keys, before)) return;
    const known = new Set(skipRepeated ? before : []);
    const fresh = rows.filter((_, index) => !known.has(keys[index] ?? ''));
    yield fresh.slice(0, left);
    left -= fresh.length;
    longest = Math.max(longest, rows.length);
    before = keys;
  }
}

export function listing<Row extends { readonly url_token: string }>(
  fetchPage: (page: number) => Promise<Row[]>,
  range: Pick<PageRange<Row>, 'first' | 'last' | 'limit'> = {},
): AsyncGenerator<Row[]> {
  return pages(fetchPage, { ...range, key: ({ url_token }) => url_token, skipRepeated: true });
}

export async function findListed<Row extends { readonly url_token: string }>(
  fetchPage: (page: number) => Promise<Row[]>,
  token: string,
): Promise<Row | undefined> {
  for await (const rows of listing(fetchPage)) {
    const row = rows.find(({ url_token }) => url_token === token);
    if (row) return row;
  }
  return undefined;
}

/** Returns whether a page repeats the one before it. If all rows are equal, two pages may have the same rows. */
function isRepeated(keys: readonly string[], before: readonly string[]): boolean {
  const distinct = keys.length === 1 || new Set(keys).size > 1;
  return (
    distinct && keys.length === before.length && keys.every((key, index) => key === before[index])
  );
}

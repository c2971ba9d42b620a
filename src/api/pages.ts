import { AT_ONCE, handled } from './in-order';

export interface PageRange<Row> {
  readonly first: number;
  /** The last page to ask for; the API takes none over 200. */
  readonly last: number;
  /** Rows in all. */
  readonly limit: number;
  /** What tells rows apart, where a listing that grows meanwhile could show one twice. */
  readonly key?: (row: Row) => string;
}

/**
 * Yields a listing page by page. It ends at an empty page, or at one shorter than those before. Further on several
 * are asked for at once, but only half as many as have come, so that few are asked for beyond the end.
 */
export async function* pages<Row>(
  fetchPage: (page: number) => Promise<Row[]>,
  { first, last, limit, key }: PageRange<Row>,
): AsyncGenerator<Row[]> {
  const ahead: Promise<Row[]>[] = [];
  let next = first;
  let left = limit;
  let longest = 0;
  let before = new Set<string>();
  for (let seen = 0; left > 0; seen++) {
    const wanted =
      seen === 0 ? 1 : Math.min(AT_ONCE, Math.ceil(seen / 2), Math.ceil(left / longest));
    while (ahead.length < wanted && next <= last) ahead.push(handled(fetchPage(next++)));
    const rows = await ahead.shift();
    if (rows === undefined || rows.length === 0) return;
    const fresh = key ? rows.filter((row) => !before.has(key(row))) : rows;
    yield fresh.slice(0, left);
    left -= fresh.length;
    if (rows.length < longest) return;
    longest = rows.length;
    before = new Set(key ? rows.map(key) : []);
  }
}

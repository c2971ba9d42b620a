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
 * Yields a listing page by page, asking for one at a time. It ends at an empty page, or at one shorter
 * than those before, which saves asking for the empty one.
 */
export async function* pages<Row>(
  fetchPage: (page: number) => Promise<Row[]>,
  { first, last, limit, key }: PageRange<Row>,
): AsyncGenerator<Row[]> {
  let left = limit;
  let longest = 0;
  let before = new Set<string>();
  for (let page = first; page <= last && left > 0; page++) {
    const rows = await fetchPage(page);
    const fresh = key ? rows.filter((row) => !before.has(key(row))) : rows;
    if (rows.length === 0) return;
    yield fresh.slice(0, left);
    left -= fresh.length;
    if (rows.length < longest) return;
    longest = rows.length;
    before = new Set(key ? rows.map(key) : []);
  }
}

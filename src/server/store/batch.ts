/** The first of them whose payloads have so many bytes together, or the first one. */
export function upTo<R extends { readonly bytes: number }>(most: number, rows: readonly R[]): R[] {
  let bytes = 0;
  const end = rows.findIndex((row, i) => {
    bytes += row.bytes;
    return bytes > most && i > 0;
  });
  return end < 0 ? [...rows] : rows.slice(0, end);
}

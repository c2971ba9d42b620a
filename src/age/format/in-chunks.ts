/**
 * Splits bytes into chunks of `size`; only the last chunk may be shorter, or empty. A chunk is valid until the next one
 * is requested, since chunks may share a buffer.
 */
export async function* inChunks(pieces: AsyncIterable<Uint8Array>, size: number) {
  const buffer = new Uint8Array(size);
  let filled = 0;
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; ) {
      if (filled === size) {
        yield { chunk: buffer, last: false };
        filled = 0;
      }
      // More of the piece follows, so this chunk is not the last one, and there is no need to copy it.
      if (filled === 0 && piece.length - from > size) {
        yield { chunk: piece.subarray(from, from + size), last: false };
        from += size;
        continue;
      }
      const part = piece.subarray(from, from + size - filled);
      buffer.set(part, filled);
      filled += part.length;
      from += part.length;
    }
  }
  yield { chunk: buffer.subarray(0, filled), last: true };
}

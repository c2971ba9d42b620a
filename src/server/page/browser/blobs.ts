/** Bytes after which chunks become a `Blob`, which the browser need not keep in memory. */
const PART = 16 * 1024 * 1024;

/** Yields the pieces of a stream, as Safari cannot iterate over a `ReadableStream`. */
export async function* piecesOf(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  let ended = false;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      ended = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!ended) await reader.cancel();
  }
}

/** Copies each chunk, as it is valid only until the next one is requested. `progress` receives the bytes so far. */
export async function blobOf(
  chunks: AsyncIterable<Uint8Array<ArrayBuffer>>,
  progress?: (bytes: number) => void,
): Promise<Blob> {
  let blob = new Blob();
  let parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(chunk.slice());
    bytes += chunk.length;
    if (bytes - blob.size < PART) continue;
    blob = new Blob([blob, ...parts]);
    parts = [];
    progress?.(bytes);
    // The timeout lets the browser draw the page.
    await new Promise((resolve) => setTimeout(resolve));
  }
  return new Blob([blob, ...parts]);
}

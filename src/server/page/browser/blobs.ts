/** Bytes that are handed over to the browser at a time, which need not keep them in memory. */
const PART = 16 * 1024 * 1024;

/** The pieces of a stream, which Safari cannot iterate over. */
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

/** Collects chunks, each valid until the next one is requested; `progress` receives the bytes there are, now and then. */
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
    // The browser draws the page meanwhile.
    await new Promise((resolve) => setTimeout(resolve));
  }
  return new Blob([blob, ...parts]);
}

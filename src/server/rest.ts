import type { IncomingMessage } from 'node:http';

/** How much more is read of a body that was answered before its end, and for how many milliseconds. */
const usual = { bytes: 64 * 1024 * 1024, milliseconds: 10_000 };

/**
 * The same answer, sent at once but not ended before the rest of the body has come or the limits are reached. Whoever
 * still sends could not read it otherwise: a connection that is closed over unread bytes is reset.
 */
export async function afterRest(
  response: Response,
  incoming: IncomingMessage,
  limits = usual,
): Promise<Response> {
  if (incoming.complete || incoming.destroyed) return response;
  const body = new Uint8Array(await response.arrayBuffer());
  const ended = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(body);
      await discard(incoming, limits);
      controller.close();
    },
  });
  return new Response(ended, { status: response.status, headers: response.headers });
}

function discard(incoming: IncomingMessage, { bytes, milliseconds }: typeof usual): Promise<void> {
  return new Promise((resolve) => {
    let left = bytes;
    const timer = setTimeout(end, milliseconds);
    function end(): void {
      clearTimeout(timer);
      incoming.off('data', count);
      incoming.pause();
      resolve();
    }
    function count(chunk: Buffer): void {
      left -= chunk.length;
      if (left < 0) end();
    }
    // Who read before keeps what comes, and would stop it when that is enough.
    incoming.removeAllListeners('data');
    for (const event of ['end', 'error', 'close']) incoming.once(event, end);
    incoming.on('data', count);
    incoming.resume();
  });
}

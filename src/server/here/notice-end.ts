/** The same answer; calls `ended` once the last byte of the file has been handed on, whether or not the first was too. */
export function noticeEnd(response: Response, ended: () => void): Response {
  const { body, headers, status } = response;
  if (!body || (status !== 200 && status !== 206) || !reachesEnd(headers)) return response;
  let left = Number(headers.get('content-length'));
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      left -= chunk.length;
      controller.enqueue(chunk);
    },
    flush() {
      if (left === 0) ended();
    },
  });
  return new Response(body.pipeThrough(counting), { status, headers });
}

/** Whether it is all of a file, or its rest. */
function reachesEnd(headers: Headers): boolean {
  const range = headers.get('content-range');
  if (range === null) return true;
  const [, last, size] = /-(\d+)\/(\d+)$/.exec(range) ?? [];
  return Number(last) + 1 === Number(size);
}

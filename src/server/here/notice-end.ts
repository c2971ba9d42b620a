/**
 * The same answer; calls `ended` when nobody reads on, with whether the last byte of the file has been handed on by
 * then, wherever it began.
 */
export function noticeEnd(response: Response, ended: (whole: boolean) => void): Response {
  const { body, headers, status } = response;
  if (!body || (status !== 200 && status !== 206)) {
    ended(false);
    return response;
  }
  const reader = body.getReader();
  let left = Number(headers.get('content-length'));
  const counting = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await reader.read();
        if (value) {
          left -= value.length;
          return controller.enqueue(value);
        }
        if (done) controller.close();
        ended(left === 0 && reachesEnd(headers));
      },
      async cancel(reason) {
        ended(false);
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(counting, { status, headers });
}

/** Whether it is all of a file, or its rest. */
function reachesEnd(headers: Headers): boolean {
  const range = headers.get('content-range');
  if (range === null) return true;
  const [, last, size] = /-(\d+)\/(\d+)$/.exec(range) ?? [];
  return Number(last) + 1 === Number(size);
}

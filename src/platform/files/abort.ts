export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * Returns a signal that aborts with `signal`, or after `milliseconds`, at most 24 days. Node.js 20 collects an
 * `AbortSignal.timeout` that only `AbortSignal.any` refers to, so that it would never abort.
 */
export function limited(signal: AbortSignal, milliseconds: number): AbortSignal {
  const limit = new AbortController();
  const late = () => limit.abort(new DOMException('the time is over', 'TimeoutError'));
  setTimeout(late, milliseconds).unref();
  return AbortSignal.any([signal, limit.signal]);
}

interface Limit {
  /** The time starts when this signal aborts; without a signal, at the call. */
  readonly signal?: AbortSignal | undefined;
  readonly milliseconds?: number;
}

/** Settles as `work` does, or as `late` does once the limit is reached; `work` is not stopped. */
export async function raceWithLimit<T>(
  work: Promise<T>,
  { signal, milliseconds = 0 }: Limit,
  late: () => T | Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let begin = () => {};
  const reached = new Promise<void>((resolve) => {
    begin = () => {
      if (milliseconds === 0) resolve();
      else timer = setTimeout(resolve, milliseconds);
    };
  });
  if (!signal || signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  try {
    return await Promise.race([work, reached.then(late)]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', begin);
  }
}

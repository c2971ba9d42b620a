export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * A signal that aborts with `signal`, or after that many milliseconds, up to 24 days. Node.js 20 collects an
 * `AbortSignal.timeout` of which only `AbortSignal.any` knows, and never aborts then.
 */
export function limited(signal: AbortSignal, milliseconds: number): AbortSignal {
  const limit = new AbortController();
  const late = () => limit.abort(new DOMException('the time is over', 'TimeoutError'));
  setTimeout(late, milliseconds).unref();
  return AbortSignal.any([signal, limit.signal]);
}

interface Limit {
  /** The time runs from when this signal aborts; without it, from the call on. */
  readonly signal?: AbortSignal | undefined;
  /** 0 if left out. */
  readonly milliseconds?: number;
}

/** Rejects or resolves as `late` does once the limit is reached, while the work itself goes on. */
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

import type { ApiSettings } from './api-settings';

export interface RetryPolicy<Outcome> {
  /** Seconds to wait before each further try. Their number limits the tries. */
  readonly pauses: Iterable<number>;
  /** The sum of all pauses has at most this many seconds. */
  readonly budget?: number;
  /** Returns the least seconds to wait before another try; undefined if there is to be no other try. */
  wait(outcome: Outcome): number | undefined | Promise<number | undefined>;
  /** Waits, and resolves to whether to try again. Without `pause`, the next try is made at once. */
  pause?(seconds: number, outcome: Outcome): Promise<boolean>;
}

/** Tries again as `policy` says, and returns the last outcome. The caller made the first try. */
export async function retried<Outcome>(
  first: Outcome,
  attempt: () => Promise<Outcome>,
  policy: RetryPolicy<Outcome>,
): Promise<Outcome> {
  const retry = retrying(policy);
  let outcome = first;
  while (await retry(outcome)) outcome = await attempt();
  return outcome;
}

/** Returns a function to call after each try. It waits, and resolves to whether to try again. */
export function retrying<Outcome>({
  pauses,
  budget = Number.POSITIVE_INFINITY,
  wait,
  pause = async () => true,
}: RetryPolicy<Outcome>): (outcome: Outcome) => Promise<boolean> {
  const left = pauses[Symbol.iterator]();
  let paused = 0;
  return async (outcome) => {
    const least = await wait(outcome);
    if (least === undefined) return false;
    const { done, value } = left.next();
    if (done) return false;
    const seconds = Math.max(value, least);
    paused += seconds;
    return paused <= budget && pause(seconds, outcome);
  };
}

/** Yields seconds that double from the first to the longest. The longest is repeated without end. */
export function* growing(first: number, longest: number): Generator<number, never> {
  for (let seconds = first; ; seconds = Math.min(2 * seconds, longest)) yield seconds;
}

type Backoff = Required<Pick<ApiSettings, 'send' | 'sleep' | 'waiting'>>;

/** Makes all calls of a client share a wait for `Retry-After`. It is announced once, and no call is sent during it. */
export function sharedBackoff({ send, sleep, waiting }: Backoff): Backoff {
  let waits: Promise<unknown> | undefined;
  return {
    send: async (request) => {
      while (waits !== undefined) await waits;
      return send(request);
    },
    waiting: (seconds, status) => (waits === undefined ? waiting(seconds, status) : undefined),
    sleep: async (milliseconds) => {
      const all = Promise.all([waits, sleep(milliseconds)]).finally(() => {
        if (waits === all) waits = undefined;
      });
      waits = all;
      await all;
    },
  };
}

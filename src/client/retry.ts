import type { ApiSettings } from './api-settings';

export interface RetryPolicy<Outcome> {
  /** Seconds before each further try, of which there are as many. */
  readonly pauses: Iterable<number>;
  /** Most seconds of all pauses. */
  readonly budget?: number;
  /** The least seconds after which another try may come to more than this; undefined if there is to be none. */
  wait(outcome: Outcome): number | undefined | Promise<number | undefined>;
  /** Lets the time pass, and resolves to whether to go on; at once if left out. */
  pause?(seconds: number, outcome: Outcome): Promise<boolean>;
}

/** Says after each try, and a pause, whether there is another one. */
type Retry<Outcome> = (outcome: Outcome) => Promise<boolean>;

/** What the last try came to, of which the first was made. */
export async function retried<Outcome>(
  first: Outcome,
  attempt: () => Promise<Outcome>,
  policy: RetryPolicy<Outcome> | Retry<Outcome>,
): Promise<Outcome> {
  const retry = typeof policy === 'function' ? policy : retrying(policy);
  let outcome = first;
  while (await retry(outcome)) outcome = await attempt();
  return outcome;
}

export function retrying<Outcome>({
  pauses,
  budget = Number.POSITIVE_INFINITY,
  wait,
  pause = async () => true,
}: RetryPolicy<Outcome>): Retry<Outcome> {
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

/** Pauses that double from the first to the longest, which goes on. */
export function* growing(first: number, longest: number): Generator<number, never> {
  for (let seconds = first; ; seconds = Math.min(2 * seconds, longest)) yield seconds;
}

type Backoff = Required<Pick<ApiSettings, 'send' | 'sleep' | 'waiting'>>;

/** Shares one `Retry-After` wait among all calls of a client: none is sent during it, and it is announced once. */
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

import type { ApiSettings } from './api-settings';

/** When something is tried again. */
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
type Again<Outcome> = (outcome: Outcome) => Promise<boolean>;

/** What the last try came to, of which the first was made. */
export async function retried<Outcome>(
  first: Outcome,
  attempt: () => Promise<Outcome>,
  policy: RetryPolicy<Outcome> | Again<Outcome>,
): Promise<Outcome> {
  const again = typeof policy === 'function' ? policy : retrying(policy);
  let outcome = first;
  while (await again(outcome)) outcome = await attempt();
  return outcome;
}

export function retrying<Outcome>({
  pauses,
  budget = Number.POSITIVE_INFINITY,
  wait,
  pause = async () => true,
}: RetryPolicy<Outcome>): Again<Outcome> {
  const left = pauses[Symbol.iterator]();
  let paused = 0;
  return async (outcome) => {
    const asked = await wait(outcome);
    if (asked === undefined) return false;
    const least = left.next();
    if (least.done) return false;
    const seconds = Math.max(least.value, asked);
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

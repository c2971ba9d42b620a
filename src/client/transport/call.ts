import type { HttpRequest, Transport } from '../../platform/context';
import { TransportError } from './network-errors';
import { follow, withinOrigin } from './redirects';
import { header, type Pace, readWhole, type WholeResponse } from './response';

export interface CallRules extends Pace {
  /** Sending the request twice is harmless. */
  readonly repeatable: boolean;
  /** It is sent again after a 429 with `Retry-After`. */
  readonly waitsOn429: boolean;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Called before each wait. */
  readonly waiting: (seconds: number, status: number) => void | Promise<void>;
}

/** Limit for the sum of all waits of one call, in seconds. */
const MAX_WAIT_SECONDS = 60;

/**
 * Sends a request and reads the response. Follows redirects within the origin, honours `Retry-After` for at most 60 s
 * in total, and retries once after a broken connection if that is harmless.
 * @throws TransportError without a whole response; CliError for a redirect that must not be followed; ResponseTooLong
 */
export async function call(
  send: Transport,
  request: HttpRequest,
  rules: CallRules,
): Promise<WholeResponse> {
  const sendOnce = async () =>
    readWhole(await follow(send, request, withinOrigin), request.url, rules);
  let waited = 0;
  for (;;) {
    const response = await retryBroken(sendOnce, rules);
    const seconds = waitFor(response, rules);
    if (seconds === undefined || waited + seconds > MAX_WAIT_SECONDS) return response;
    await rules.waiting(seconds, response.status);
    await rules.sleep(seconds * 1000);
    waited += seconds;
  }
}

async function retryBroken(
  work: () => Promise<WholeResponse>,
  rules: CallRules,
): Promise<WholeResponse> {
  try {
    return await work();
  } catch (error) {
    const broke = error instanceof TransportError && error.sent && !error.timedOut;
    if (!broke || !rules.repeatable) throw error;
    return await work().catch((again) => {
      // The first one may have had its effect, whatever became of the second.
      throw again instanceof TransportError && !again.sent ? error : again;
    });
  }
}

/** Seconds to wait before sending again; undefined to take the response as it is. */
function waitFor(response: WholeResponse, rules: CallRules): number | undefined {
  const { status } = response;
  const may = (status === 429 && rules.waitsOn429) || (status === 503 && rules.repeatable);
  if (!may) return undefined;
  const seconds = retryAfter(header(response, 'retry-after'), rules.now());
  // Never 0: an instance that always says 0 would be asked without end.
  return seconds === undefined ? undefined : Math.max(seconds, 1);
}

/**
 * The whole seconds that `Retry-After` asks to wait (RFC 9110, 10.2.3: seconds or an HTTP date); undefined if it is
 * absent or invalid.
 */
export function retryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  const trimmed = value.trim();
  if (/^\d{1,9}$/.test(trimmed)) return Number(trimmed);
  if (!/[a-z]/i.test(trimmed)) return undefined;
  const date = Date.parse(trimmed);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now.getTime()) / 1000));
}

type Backoff = Pick<CallRules, 'sleep' | 'waiting'> & { readonly send: Transport };

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

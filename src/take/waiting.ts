import type { Entry } from '../cli/terminal/output';
import { statusLine } from '../cli/terminal/status-line';
import { span } from '../cli/terminal/wording';
import { isTemporary } from '../client/meaning';
import { requestPoller } from '../client/progress';
import { growing, retried } from '../client/retry';
import { durationText } from '../contract/lifetime';
import { contextWith } from '../platform/context';
import { CliError, phrase } from '../platform/errors';
import { limited } from '../platform/files/abort';
import { accountOf, timeoutOf } from '../profile/connect';
import type { ConnectedItem } from '../profile/references';
import type { Target } from '../profile/target';

/** In seconds. */
export const DEFAULT_INTERVAL = 5;

class TimeOver extends Error {}

interface TimeLimit {
  readonly entry: Entry;
  readonly target: Target;
  /** @throws CliError (timeout) that names what was waited for, when the time is over */
  ending<T>(noun: 'view' | 'answer', work: () => Promise<T>): Promise<T>;
}

/** Limits the whole wait and, within it, each response. */
export function timeLimit(entry: Entry, seconds: number | undefined, target: Target): TimeLimit {
  if (seconds === undefined) return { entry, target, ending: (_, work) => work() };
  const { context, say } = entry;
  const end = context.now().getTime() + seconds * 1000;
  const left = () => end - context.now().getTime();
  // Timers of Node.js last 24 days at most. A longer wait does not cut a response short.
  const isTimed = seconds * 1000 < 2 ** 31;
  const signal = isTimed ? limited(context.signal, seconds * 1000) : context.signal;
  const sleep = async (milliseconds: number) => {
    const most = left();
    await context.sleep(Math.max(0, Math.min(milliseconds, most)));
    if (most <= milliseconds) throw new TimeOver();
  };
  return {
    entry: { context: contextWith(context, { sleep, signal }), say },
    target: { ...target, timeout: Math.min(seconds, timeoutOf(context, target.timeout)) },
    ending: async (noun, work) => {
      try {
        return await work();
      } catch (error) {
        const late = isTemporary(error) && (signal.aborted || left() <= 0);
        if (!late && !(error instanceof TimeOver)) throw error;
        const time = seconds < 60 ? `${seconds} s` : durationText(seconds);
        throw new CliError('timeout', phrase('none-within', noun, time), { cause: error });
      }
    },
  };
}

/** The most seconds between two polls while the instance fails. */
const LONGEST_PAUSE = 60;
/** Seconds for which the instance may fail before the wait ends. */
const TOLERANCE = 5 * 60;

interface Waiting {
  /** Seconds between two polls. */
  readonly interval: number;
  readonly what: string;
  /** Seconds for the whole wait; undefined for no limit. */
  readonly most: number | undefined;
}

/**
 * Polls until `result` returns a value for what `poll` returns. Temporary failures are tolerated only after a first
 * success, so that a wrong address fails at once.
 */
export async function waitUntil<State, Result>(
  entry: Entry,
  { interval, what, most }: Waiting,
  poll: () => Promise<State>,
  result: (state: State) => Promise<Result | undefined>,
): Promise<Result> {
  const { context, say } = entry;
  const begun = context.now().getTime();
  const status = statusLine(entry);
  const time = () => {
    const taken = context.now().getTime() - begun;
    if (most === undefined) return `waited ${span(taken)}`;
    return `${span(Math.max(0, most * 1000 - taken))} left`;
  };
  let worked = false;
  // Adds up pauses instead of time: a machine that slept for hours may be without its network for a moment.
  let failing = 0;
  const look = async (): Promise<{ readonly made?: Result | undefined; failure?: CliError }> => {
    const state = await poll().catch((error) => {
      if (!isTemporary(error) || !worked || context.signal.aborted) throw error;
      return error;
    });
    if (state instanceof CliError) return { failure: state };
    worked = true;
    failing = 0;
    return { made: await result(state) };
  };
  await say.remark(what);
  try {
    const { made } = await retried(await look(), look, {
      pauses: growing(interval, interval),
      wait: async ({ made, failure }) => {
        if (made !== undefined) return undefined;
        if (failure === undefined) return 0;
        if (failing > TOLERANCE) throw failure;
        if (failing === 0) await say.note(failure.and(phrase('still-waiting')));
        // As `failing` is the sum of the pauses, each pause is twice as long as the last one.
        const pause = Math.min(failing + 2 * interval, Math.max(LONGEST_PAUSE, interval));
        failing += pause;
        return pause;
      },
      pause: async (seconds) => {
        status?.draw(time);
        await context.sleep(seconds * 1000);
        await status?.clear();
        return true;
      },
    });
    return made as Result;
  } finally {
    await status?.ends();
  }
}

/**
 * Waits without taking the answer. With --json, prints the object of the request once it is answered.
 * @throws CliError (expired) if the request is closed without an answer
 */
export async function waitForAnswer(
  entry: Entry,
  { interval, most }: Pick<Waiting, 'interval' | 'most'>,
  { api, target, token }: Pick<ConnectedItem, 'api' | 'target' | 'token'>,
): Promise<void> {
  const { say } = entry;
  const what = 'waiting for an answer … (Ctrl-C stops waiting, the request stays)';
  const poll = requestPoller(api, token, accountOf(target));
  await waitUntil(entry, { interval, what, most }, poll, async ({ state, request }) => {
    if (state === 'closed') throw new CliError('expired', phrase('closed-unanswered'));
    if (state !== 'answered') return undefined;
    if (say.manner.json) await say.print(request, () => '');
    else await say.remark('the request was answered');
    return true;
  });
}

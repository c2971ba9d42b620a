import { hasFeature } from '../contract/api';
import type { InstanceVersion } from '../contract/decode';
import { keyEcho } from '../contract/key-echo';
import type { Transport } from '../platform/context';
import { attempt, CliError } from '../platform/errors';
import type { Answer, SentCall } from './api-settings';
import { type Call, pushCalls } from './calls';
import { explain, isLoss, isOutcome, isTemporary, leavesOpen, settles } from './meaning';
import { growing, type RetryPolicy, retried } from './retry';
import { TransportError } from './transport/network-errors';
import { isSuccess, retryAfter } from './transport/response';

/** The most seconds that one call waits for `Retry-After` in all. */
const MOST_WAITED = 60;
/** Seconds within which an HTTP request is sent again after its response was lost. */
const PATIENCE = 90;
/** Seconds between two repetitions. */
const FIRST_PAUSE = 0.5;
const LONGEST_PAUSE = 15;
/** Milliseconds within which an instance of an unknown kind is asked whether it does repetitions once. */
const ASKING = 10_000;

interface Repeatable<T> extends SentCall {
  /** In milliseconds since 1970. */
  readonly began: number;
  readonly send: (over?: Transport) => Promise<Answer<T>>;
  /** Asks for the version of the instance with the `Idempotency-Key` of the call. It uses no view. */
  readonly version: (asked: Call) => Promise<InstanceVersion>;
}

/**
 * Sends a call again, as its `retry` says, after a response that is no success.
 * @throws CliError of `explain` if the last response is no success
 */
export async function outcomeAfter<T>(first: Answer<T>, sent: Repeatable<T>): Promise<T> {
  const answer = await lastAnswer(first, sent);
  if (answer.value !== undefined) return answer.value;
  throw explain(answer, sent);
}

async function lastAnswer<T>(first: Answer<T>, sent: Repeatable<T>): Promise<Answer<T>> {
  const { call, send } = sent;
  const { resent, keyedFor } = call.retry;
  /** If the response to the second try is lost, the first answer stands, since its request may have had its effect. */
  const onceMore = (answer: Answer<T>, wait: RetryPolicy<Answer<T>>['wait']) => {
    const resend = async () => {
      const second = await send();
      return isLoss(second.error) ? answer : second;
    };
    return retried(answer, resend, { pauses: [0], wait });
  };
  const whole = async (answer: Answer<T>) =>
    resent ? onceMore(answer, ({ error }) => (isBroken(error) ? 0 : undefined)) : answer;
  const answer = await retried(await whole(first), async () => whole(await send()), waits(sent));
  if (resent === 'if-open')
    return onceMore(answer, (last) => (last.response && leavesOpen(last, call) ? 0 : undefined));
  return keyedFor === undefined ? answer : repeated(answer, sent, keyedFor);
}

function isBroken(error: unknown): boolean {
  return error instanceof TransportError && error.sent && !error.timedOut;
}

/** A pause is never 0 seconds: an instance that always sends `Retry-After: 0` would be called without end. */
function waits<T>({ call, settings }: SentCall): RetryPolicy<Answer<T>> {
  return {
    pauses: growing(1, 1),
    budget: MOST_WAITED,
    wait: ({ response }) =>
      response && call.retry.waitsOn.includes(response.status)
        ? retryAfter(response, settings.now())
        : undefined,
    pause: async (seconds, { response }) => {
      await settings.waiting?.(seconds, response?.status ?? 0);
      await settings.sleep(seconds * 1000);
      return true;
    },
  };
}

/**
 * Repeats an HTTP request with growing pauses if its response leaves the outcome open, and once, without a word, if it is
 * not the call's own outcome. Before, the instance has to announce that it does requests with an `Idempotency-Key` once,
 * and to show that it receives the key.
 * @param kept seconds after the first HTTP request within which a repetition has to be sent
 */
async function repeated<T>(lost: Answer<T>, sent: Repeatable<T>, kept: number): Promise<Answer<T>> {
  const { call, details, settings, began, send } = sent;
  const { patience = PATIENCE, repeats, repeating } = settings;
  const isOpen = leavesOpen(lost, call);
  if (repeats === false || (!isOpen && isOutcome(lost, call))) return lost;
  const { time, tried } = clockOf(settings);
  const now = time();
  // A repetition sends the files again, which takes as long as the first time.
  const arrives = began + kept * 1000 - (details.form ? now - began : 0);
  const last = Math.min(arrives, now + PATIENCE * 1000);
  const until = Math.min(last, now + patience * 1000);
  const answered = repeats ? until : Math.min(until, now + ASKING);
  if (!(await tried(answered, () => announces(sent, isOpen))) || time() >= last) return lost;
  // At least one repetition is sent, since the instance may never have received the first HTTP request.
  const latest = Math.max(until, time() + 1);
  if (isOpen) await repeating?.(explain(lost, sent));
  let before = lost;
  const repetition = await tried(latest, async () => {
    // `sendNow` does not wait for the `Retry-After` of another call, after which the repetition could be too late.
    const answer = await send(settings.sendNow);
    if (settles(answer, call)) return answer;
    if (!isOpen || isSameFailure(before, answer)) return lost;
    before = answer;
    return undefined;
  });
  // A truncated response with a part of a secret is not given up for a refusal.
  const isPart = call.holds === 'secret' && lost.response && isSuccess(lost.response);
  return repetition && (repetition.value !== undefined || !isPart) ? repetition : lost;
}

/** Returns whether an instance fails at a request, and will again. It may only be away while it returns another 5xx. */
function isSameFailure({ response: first }: Answer, { response: second }: Answer): boolean {
  if (!first || first.status !== second?.status) return false;
  return [500, 507].includes(first.status) && first.body.equals(second.body);
}

function clockOf({ now, sleep }: SentCall['settings']) {
  let latest = 0;
  /**
   * The time in milliseconds moves on with each pause even if the clock is set back. Otherwise, a repetition could be
   * sent after the instance forgot the HTTP request.
   */
  const time = (paused = 0) => {
    latest = Math.max(latest + paused, now().getTime());
    return latest;
  };
  const pause = async (seconds: number, end: number) => {
    const milliseconds = seconds * 1000;
    if (time() + milliseconds >= end) return false;
    // An interrupt ends the sleep. The command reports the loss of the response, and not the interrupt.
    const isOver = !((await attempt(() => sleep(milliseconds))) instanceof CliError);
    // The machine may have been suspended during the pause.
    return time(milliseconds) < end && isOver;
  };
  /** Calls `work` until it returns a value; undefined if it returns none before `end`, or the user interrupts. */
  const tried = async <R>(end: number, work: () => Promise<R | undefined>) =>
    time() >= end
      ? undefined
      : retried(await work(), work, {
          pauses: growing(FIRST_PAUSE, LONGEST_PAUSE),
          wait: (result) => (result === undefined ? 0 : undefined),
          pause: (seconds) => pause(seconds, end),
        });
  return { time, tried };
}

/**
 * Returns whether the instance announces that it does repetitions once, and echoes the key that it received; undefined
 * while the instance cannot be asked, if the caller `waits`.
 */
async function announces<T>({ details, version }: Repeatable<T>, waits: boolean) {
  const asked = waits ? pushCalls.version : { ...pushCalls.version, retry: { waitsOn: [] } };
  const answer = await attempt(() => version(asked));
  if (answer instanceof CliError) return waits && isTemporary(answer) ? undefined : false;
  const { features, idempotency_key: echo } = answer;
  return (
    hasFeature(features?.pushes, 'idempotency') && echo === keyEcho(details.idempotencyKey ?? '')
  );
}

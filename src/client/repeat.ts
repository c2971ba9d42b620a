import { hasFeature } from '../contract/api';
import type { InstanceVersion } from '../contract/decode';
import { keyEcho } from '../contract/key-echo';
import { CliError } from '../platform/errors';
import type { Call } from './calls';
import { isTemporary } from './failure';
import { ResponseTooLong } from './transport/response';

/** Seconds for which a request is sent again. */
const PATIENCE = 90;

/**
 * Seconds after it was first sent until which a repetition has to be sent, so that it arrives while the instance has the
 * response: it has one with a secret for 120, another for 600 (docs/wire.md, "Requests that are done once").
 */
const KEPT = { secret: 90, link: 570 };

/** Milliseconds for which an instance that may be any is asked whether it does them once. */
const ASKING = 10_000;

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;

/** A request whose response was lost. */
export interface FirstSent {
  /** Its `Idempotency-Key`. */
  readonly key: string;
  readonly holds: Call['holds'] | undefined;
  /** When it was sent, in milliseconds since 1970. */
  readonly began: number;
  readonly hasFiles: boolean;
}

/** When to give up, in milliseconds since 1970; undefined if it is too late already. */
export function untilWhen(
  { began, holds = 'link', hasFiles }: FirstSent,
  now: number,
  patience = PATIENCE,
): Pick<Repetition<unknown>, 'until' | 'last'> | undefined {
  // Files take as long again.
  const kept = began + KEPT[holds] * 1000 - (hasFiles ? now - began : 0);
  const last = Math.min(kept, now + PATIENCE * 1000);
  return last > now ? { until: Math.min(last, now + patience * 1000), last } : undefined;
}

interface Repetition<T> {
  /** Sends the request with the same `Idempotency-Key`; undefined for a response that does not tell what became of it. */
  readonly send: () => Promise<T | undefined>;
  readonly key: string;
  /** Asks the instance with that key; uses no view. Throws a `CliError`. */
  readonly version: () => Promise<InstanceVersion>;
  /** Milliseconds since 1970 at which to give up. */
  readonly until: number;
  /** The same for the first repetition, by which the instance may have what would be lost. */
  readonly last: number;
  /** The instance is known to do repetitions once. */
  readonly repeats: boolean;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Called before the first repetition. */
  readonly repeating: () => void | Promise<void>;
}

/**
 * Sends a request whose response was lost again, with growing pauses, to an instance that announces that it does requests
 * with the same `Idempotency-Key` once, and gets that key. Returns undefined if it does not, or sends no response in time.
 */
export async function repeat<T>(request: Repetition<T>): Promise<T | undefined> {
  const time = onward(request);
  const asked = Math.min(request.until, time.now() + ASKING);
  const announced = await again(time, request.repeats ? request.until : asked, () =>
    announces(request),
  );
  const now = time.now();
  if (!announced || now >= request.last) return undefined;
  await request.repeating();
  return again(time, Math.max(request.until, now + 1), () => request.send().catch(lost));
}

/**
 * The time in milliseconds, which pauses move on even if the clock is set back meanwhile: a repetition could be sent after
 * the instance forgot the request.
 */
function onward({ now, sleep }: Pick<Repetition<unknown>, 'now' | 'sleep'>) {
  let latest = 0;
  return {
    now: () => {
      latest = Math.max(latest, now().getTime());
      return latest;
    },
    sleep: (milliseconds: number) => {
      latest += milliseconds;
      return sleep(milliseconds);
    },
  };
}

/** What `attempt` returns as soon as that is not undefined; undefined if that is not in time, or at an interrupt. */
async function again<T>(
  { now, sleep }: ReturnType<typeof onward>,
  until: number,
  attempt: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    // The machine may have slept in a pause, or the instance have taken long to say what it announces.
    if (now() >= until) return undefined;
    const result = await attempt();
    if (result !== undefined) return result;
    if (now() + pause >= until) return undefined;
    const interrupted = await sleep(pause).then(
      () => false,
      () => true,
    );
    // The loss is what there is to tell.
    if (interrupted) return undefined;
  }
}

/** Whether the instance announces it, and keys arrive there; undefined while it cannot be asked. */
async function announces({
  key,
  version,
}: Pick<Repetition<unknown>, 'key' | 'version'>): Promise<boolean | undefined> {
  try {
    const { features, idempotency_key } = await version();
    return hasFeature(features?.pushes, 'idempotency') && idempotency_key === keyEcho(key);
  } catch (error) {
    return isTemporary(error) ? undefined : false;
  }
}

/** A redirect that cannot be followed is a loss, too. */
function lost(error: unknown): undefined {
  if (!(error instanceof CliError || error instanceof ResponseTooLong)) throw error;
}

import { isTemporary } from './failure';
import { hasFeature } from './features';
import { TransportError } from './transport/network-errors';
import { isLost, type WholeResponse } from './transport/response';

/** Seconds for which a request is sent again, less than an instance keeps its response. */
export const PATIENCE = 90;

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;

export interface Repetition {
  /** Sends the request with the same `Idempotency-Key`. */
  readonly send: () => Promise<WholeResponse>;
  /** The features of pushes at the instance; uses no view. Throws a `CliError`. */
  readonly features: () => Promise<unknown>;
  /** Milliseconds since 1970 at which to give up. */
  readonly until: number;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Called before the first repetition. */
  readonly repeating: () => void | Promise<void>;
}

/**
 * Sends a request whose response was lost again, with growing pauses, to an instance that announces that it does requests
 * with the same `Idempotency-Key` once. Returns undefined if it does not, or sends no response in time.
 */
export async function repeat(request: Repetition): Promise<WholeResponse | undefined> {
  const { now, until, sleep } = request;
  let announced = false;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    if (!announced) {
      const answer = await announces(request);
      if (answer === false) return undefined;
      announced = answer === true;
      if (announced) await request.repeating();
    }
    if (announced) {
      const response = await request.send().catch(lost);
      if (response && !isLost(response.status)) return response;
    }
    if (now().getTime() + pause >= until) return undefined;
    // Rejects when the run is interrupted: then the loss is what there is to tell.
    const slept = await sleep(pause).then(
      () => true,
      () => false,
    );
    if (!slept) return undefined;
  }
}

/** Whether the instance announces it; undefined while it cannot be asked. */
async function announces({ features }: Repetition): Promise<boolean | undefined> {
  try {
    return hasFeature(await features(), 'idempotency');
  } catch (error) {
    return isTemporary(error) ? undefined : false;
  }
}

function lost(error: unknown): undefined {
  if (!(error instanceof TransportError)) throw error;
}

import { CliError } from '../errors';
import type { World } from './rescue';

/** Saves a result to a rescue file and makes the error that tells where. */
export async function rescued(
  world: World,
  bytes: string | Uint8Array,
  what: 'link' | 'secret' | 'text' | 'message' | 'answer',
  problem: string,
): Promise<CliError> {
  try {
    // What it takes to make a file costs 6 ms, and is hardly ever needed.
    const { rescue } = await import('./rescue');
    const path = await rescue(world, what, bytes);
    return new CliError('failed', `${problem}; the ${what} was saved to ${path}`, {
      hint: `read it, then remove it: rm '${path}'`,
      remains: { saved_to: path },
    });
  } catch (error) {
    const why = error instanceof CliError ? error.message : 'it could not be saved either';
    return new CliError('failed', `${problem}, and the ${what} is LOST: ${why}`, {
      cause: error,
      remains: {},
    });
  }
}

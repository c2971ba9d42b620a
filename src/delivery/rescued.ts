import type { Push } from '../contract';
import { CliError } from '../errors';
import { left } from '../terminal/push-text';
import type { World } from './rescue';

/** How often a push can still be retrieved, so that nothing of it is lost; undefined where that is not certain. */
export function stillLeft(push: Push): string | undefined {
  const { views_remaining: views, days_remaining: days, expired } = push;
  const available = typeof views === 'number' && views > 0 && days !== 0 && expired !== true;
  return available ? `the push can be retrieved again (${left(push)})` : undefined;
}

/**
 * Saves a result to a rescue file and makes the error that tells where.
 * @param push that the result is of: while it can be retrieved again nothing is saved, and the error says so
 */
export async function rescued(
  world: World,
  bytes: string | Uint8Array,
  what: 'link' | 'secret' | 'text' | 'message' | 'answer',
  problem: string,
  push?: Push,
): Promise<CliError> {
  const again = push && stillLeft(push);
  if (again) return new CliError('failed', `${problem}; ${again}`, { remains: {} });
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

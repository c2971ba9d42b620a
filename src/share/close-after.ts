import { longestDuration, type NewRequest } from '../contract/api';
import { parseDuration } from '../contract/duration';
import { usageError } from '../platform/errors';

/**
 * The fields for an expiry: the exact time, and for instances without it the longest index that is not longer.
 * @throws CliError (usage) for an invalid duration, or one below the shortest
 */
export function closeAfter(text: string): Pick<NewRequest, 'close_after' | 'close_after_duration'> {
  const seconds = parseDuration(text);
  const hint = 'use a duration from 15m to 3mo, such as 6h, 3d, 2w or 1mo';
  if (seconds === undefined) throw usageError(`--expire: "${text}" is not a duration`, hint);
  const index = longestDuration(seconds);
  if (index === -1) throw usageError(`--expire: ${text} is too short`, hint);
  return { close_after: seconds, close_after_duration: index };
}

import { durations, type NewRequest } from '../contract';
import { parseDuration } from '../duration';
import { usageError } from '../errors';
import { count } from '../terminal/wording';

/**
 * The fields for an expiry: the exact time, and for instances without it the longest index that is not longer.
 * @throws CliError (usage) for an invalid duration, or one below the shortest
 */
export function closeAfter(text: string): Pick<NewRequest, 'close_after' | 'close_after_duration'> {
  const seconds = parseDuration(text);
  const hint = 'use a duration from 15m to 3mo, such as 6h, 3d, 2w or 1mo';
  if (seconds === undefined) throw usageError(`--expire: "${text}" is not a duration`, hint);
  const index = durations.findLastIndex((one) => one <= seconds);
  if (index === -1) throw usageError(`--expire: ${text} is too short`, hint);
  return { close_after: seconds, close_after_duration: index };
}

/** Seconds in the largest unit that fits: `2 days`, `90 minutes`. */
export function durationText(seconds: number): string {
  if (seconds % 86_400 === 0) return count(seconds / 86_400, 'day');
  return seconds % 3600 === 0 ? count(seconds / 3600, 'hour') : count(seconds / 60, 'minute');
}

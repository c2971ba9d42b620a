import * as v from 'valibot';
import { pointOf } from '../../age/bech32';
import { limits, requestFlags } from '../../contract/api';
import { DAY_SECONDS, durations } from '../../contract/lifetime';
import {
  commonFields,
  flags,
  noFiles,
  optionalCount,
  secretText,
  shortProblem,
  valid,
} from '../pushes/new-push';
import { invalid } from '../service-errors';
import type { Bounds } from '../service-settings';

/**
 * Validates the `request` object that creates a request, and returns its lifetime as `close_after`, in seconds.
 * @throws ServiceRefusal with messages by field
 */
export function validateRequest(input: object, bounds: Bounds) {
  const output = valid(requestSchema(bounds), input);
  const { files: _, notify_emails_to: __, close_after_duration, close_after, ...request } = output;
  const seconds = durations[close_after_duration ?? -1] ?? bounds.days.default * DAY_SECONDS;
  const { max } = bounds.days;
  if (close_after === undefined && seconds > max * DAY_SECONDS)
    throw invalid({ close_after_duration: [`Close after duration is over ${max} days.`] });
  const field = close_after === undefined ? 'close_after_duration' : 'close_after';
  const problem = shortProblem(field, close_after ?? seconds, bounds);
  if (problem) throw invalid(problem);
  return { ...request, close_after: close_after ?? seconds };
}

/** Returns the unvalidated response for comparison with a repeated call; undefined if it is no text or too large. */
export function responseIn({ response }: { readonly response?: unknown }): string | undefined {
  const isPossible = typeof response === 'string' && response.length <= limits.textBytes;
  return isPossible ? response : undefined;
}

/**
 * Validates the `request` object of an answer. With files, the response may be blank.
 * @throws ServiceRefusal with messages by field
 */
export function validateResponse(input: object, fileCount: number): string {
  const { response } = valid(responseSchema, input);
  if (fileCount === 0 && response.trim() === '')
    throw invalid({ response: ['Response is required.'] });
  return response;
}

export function requestSchema({ days }: Bounds) {
  return v.object({
    request: v.pipe(
      secretText('Request'),
      v.check((request) => request.trim() !== '', 'Request is required.'),
    ),
    close_after_duration: optionalCount('Close after duration', 0, durations.length - 1),
    close_after: optionalCount('Close after', 1, days.max * DAY_SECONDS),
    ...flags(requestFlags, false),
    public_key: v.nullish(
      v.pipe(
        v.string('Public key must be a string.'),
        v.check(
          (key) => key === '' || pointOf(key) !== undefined,
          'Public key must be an X25519 recipient of age, age1….',
        ),
        v.transform((key) => key || null),
      ),
      null,
    ),
    ...commonFields(),
    files: noFiles('request[files][]'),
  });
}

export const responseSchema = v.object({
  response: secretText('Response'),
  files: noFiles('request[files][]'),
});

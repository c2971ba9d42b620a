import type { Entry, Terminal } from '../cli/terminal/output';
import { askEdition } from '../client/edition';
import { lazy } from '../contract/lazy';
import {
  type ClosingFields,
  closingFields,
  DAY_SECONDS,
  durationCode,
  durationText,
  type Edition,
  type Expiry,
  type ExpiryFields,
  expiryFields,
  isZoneKnown,
  localTime,
  requestedLifetime,
  shortestLifetime,
} from '../contract/lifetime';
import type { Context } from '../platform/context';
import { CliError, phrase, usageError } from '../platform/errors';
import type { Instance } from '../profile/connect';
import type { Target } from '../profile/target';

/** @param exactly whether a wrong guess would do harm; without it, `oss` is returned for an unknown edition */
export type EditionFinder = (exactly: boolean) => Promise<Edition>;

/**
 * Translates the expiry of a push for an instance; warns if the instance has only a shorter one.
 * @param edition called if there is something to translate
 * @throws CliError (usage) for an expiry that the instance does not have, or a time that has passed
 */
export async function grantableExpiry(
  expiry: Expiry | undefined,
  { context, say }: Entry,
  edition: EditionFinder,
): Promise<ExpiryFields> {
  if (expiry === undefined) return {};
  const seconds = secondsUntil(expiry, context);
  // Every edition takes whole days.
  const known = await edition(seconds % DAY_SECONDS !== 0);
  const fields = expiryFields(seconds, known);
  if (fields === undefined) throw tooShort(seconds, known);
  const granted = requestedLifetime(fields) ?? seconds;
  const [wanted, sent] = [durationText(seconds), durationText(granted)];
  const counts = known === 'oss' ? 'counts whole days' : 'has fixed steps';
  // Both cases take one turn of the event loop, so that batch lines that are pushed at once keep their order.
  await (granted === seconds
    ? undefined
    : say.warn(`${wanted} requested, rounded down to ${sent}: this instance ${counts}`));
  return fields;
}

type Clock = Pick<Context, 'now' | 'env'>;

/** @throws CliError (usage) for a time that has passed, or of a zone that is not known */
export function secondsUntil(expiry: Expiry, { now, env }: Clock, option = ''): number {
  if ('after' in expiry) return expiry.after;
  if (expiry.local && !isZoneKnown(env.TZ, expiry.at))
    throw usageError(
      `${option}the time has no zone, and the zone "${env.TZ}" of the variable TZ is not known`,
      'write the time with Z or an offset, as 2026-12-01T09:00Z or 2026-12-01T09:00+02:00',
    );
  const seconds = Math.floor((expiry.at - now().getTime()) / 1000);
  if (seconds > 0) return seconds;
  throw usageError(`${option}${localTime(expiry.at)} has passed`);
}

/** @throws CliError (usage) for a time that is too short, has passed, or is of a zone that is not known */
export function closing(expiry: Expiry, clock: Clock): ClosingFields {
  const seconds = secondsUntil(expiry, clock);
  const fields = closingFields(seconds);
  if (fields) return fields;
  throw usageError(
    `a request cannot close after ${durationText(seconds)}`,
    'the shortest is 15 minutes',
  );
}

export const isDate = (expiry: Expiry | undefined): expiry is { readonly at: number } =>
  expiry !== undefined && 'at' in expiry;

/** Tells a person how an expiry was understood, where no summary of a created push does. */
export async function reportExpiry(
  expiry: Expiry | undefined,
  verb: 'expires' | 'closes',
  { remark }: Terminal,
): Promise<void> {
  if (isDate(expiry)) await remark(`${verb} on ${localTime(expiry.at)} at the latest`);
}

function tooShort(seconds: number, edition: Edition): CliError {
  const cannot = `cannot expire a push after ${durationText(seconds)}`;
  if (edition === 'oss')
    return usageError(
      `this instance counts whole days: it ${cannot}`,
      phrase('shorten-days', durationCode(seconds)),
    );
  return usageError(
    `this instance ${cannot}`,
    `the shortest is ${durationText(shortestLifetime[edition])}`,
  );
}

/** Takes the edition of the target, or asks the instance for it once. A dry run sends nothing if it can. */
export function editionOf(
  target: Target,
  connect: () => Promise<Instance>,
  dryRun: boolean,
): EditionFinder {
  const edition = lazy(async () => askEdition((await connect()).api));
  return async (exactly) => {
    if (target.edition !== undefined) return target.edition;
    if (dryRun && !exactly) return 'oss';
    try {
      return await edition();
    } catch (error) {
      // Creating the push shows the same fault, and `judgePush` checks the granted limits.
      if (!exactly && error instanceof CliError && error.status !== undefined) return 'oss';
      throw error;
    }
  };
}

import { askEdition, type ExpiryFields, expiryFields } from '../../client/edition';
import { durationText } from '../../contract/duration';
import { askedLifetime } from '../../contract/lifetime';
import type { Edition, Profile } from '../../platform/context';
import { CliError, usageError } from '../../platform/errors';
import { lazy } from '../../platform/files/lazy';
import type { Instance } from '../../profile/session';
import type { PushOptions } from './push-options';

const DAY = 86_400;

/** An expiry as an instance takes it. */
export interface ToldExpiry {
  readonly fields: ExpiryFields;
  /** A warning, if the instance has nothing as long as was asked for. */
  readonly shorter?: string;
}

/**
 * Translates `--expire`, `--days` or the days of the profile for an instance.
 * @param edition called if there is something to translate
 * @throws CliError (usage) for an expiry that the instance does not have
 */
export async function toldExpiry(
  { days, expire }: Pick<PushOptions, 'days' | 'expire'>,
  profile: Profile | undefined,
  now: Date,
  edition: (seconds: number) => Promise<Edition>,
): Promise<ToldExpiry> {
  const wholeDays = expire ? undefined : (days ?? profile?.days);
  const seconds = expire ? secondsOf(expire, now) : wholeDays && wholeDays * DAY;
  if (seconds === undefined) return { fields: {} };
  const fields = expiryFields(seconds, await edition(seconds));
  const granted = askedLifetime(fields);
  if (granted === seconds || granted === undefined) return { fields };
  const [asked, sent] = [durationText(seconds), durationText(granted)];
  return {
    fields,
    shorter: `${asked} requested, rounded down to ${sent}: this instance ${
      fields.expire_after_days === undefined ? 'has fixed steps' : 'counts whole days'
    }`,
  };
}

/** @throws CliError (usage) for a time that has passed */
function secondsOf(expire: NonNullable<PushOptions['expire']>, now: Date): number {
  if ('after' in expire) return expire.after;
  const seconds = Math.floor((expire.at - now.getTime()) / 1000);
  if (seconds > 0) return seconds;
  throw usageError(`--expire ${new Date(expire.at).toISOString()} has passed`);
}

/**
 * The edition of an instance: known, or asked for once. With `--dry-run`, which sends nothing if it can, whole days need not
 * be asked for.
 */
export function editionOf(
  { dryRun }: Pick<PushOptions, 'dryRun'>,
  known: Edition | undefined,
  instance: () => Promise<Pick<Instance, 'api'>>,
): (seconds: number) => Promise<Edition> {
  const asked = lazy(async () => askEdition((await instance()).api));
  return async (seconds) => {
    if (known !== undefined) return known;
    const whole = seconds % DAY === 0;
    if (dryRun && whole) return 'oss';
    try {
      return await asked();
    } catch (error) {
      // The creation itself shows what is wrong, if it is; the limits that it grants are checked.
      if (whole && error instanceof CliError && error.status !== undefined) return 'oss';
      throw error;
    }
  };
}

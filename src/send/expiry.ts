import type { Terminal } from '../cli/terminal/output';
import { askEdition } from '../client/edition';
import {
  askedLifetime,
  type ClosingFields,
  closingFields,
  DAY_SECONDS,
  durationCode,
  durationText,
  type Edition,
  type Expiry,
  type ExpiryFields,
  expiryFields,
  shortestLifetime,
  timeHere,
} from '../contract/lifetime';
import { CliError, type Fact, phrase, usageError } from '../platform/errors';
import { lazy } from '../platform/files/lazy';
import type { Instance } from '../profile/connect';
import type { Session } from '../profile/session';

/**
 * Translates the expiry of a push for an instance; `shorter` is a warning that this has nothing as long.
 * @param edition called if there is something to translate
 * @throws CliError (usage) for an expiry that the instance does not have, or a time that has passed
 */
export async function toldExpiry(
  asked: Expiry | undefined,
  now: Date,
  edition: (seconds: number) => Promise<Edition>,
): Promise<{ readonly fields: ExpiryFields; readonly shorter?: string }> {
  if (asked === undefined) return { fields: {} };
  const seconds = secondsUntil(asked, now);
  const known = await edition(seconds);
  const fields = expiryFields(seconds, known);
  if (fields === undefined) throw tooShort(seconds, known);
  const granted = askedLifetime(fields);
  if (granted === seconds || granted === undefined) return { fields };
  const [wanted, sent] = [durationText(seconds), durationText(granted)];
  const counts = known === 'oss' ? 'counts whole days' : 'has fixed steps';
  return {
    fields,
    shorter: `${wanted} requested, rounded down to ${sent}: this instance ${counts}`,
  };
}

function secondsUntil(asked: Expiry, now: Date): number {
  if ('after' in asked) return asked.after;
  const seconds = Math.floor((asked.at - now.getTime()) / 1000);
  if (seconds > 0) return seconds;
  throw usageError(`${timeHere(asked.at)} has passed`);
}

/**
 * The fields for when a request closes.
 * @throws CliError (usage) for what is too short, or has passed
 */
export function closing(asked: Expiry, now: Date): ClosingFields {
  const seconds = secondsUntil(asked, now);
  const fields = closingFields(seconds);
  if (fields) return fields;
  throw usageError(
    `a request cannot close after ${durationText(seconds)}`,
    'the shortest is 15 minutes',
  );
}

/**
 * The error of a creation whose lifetime was typed with that option, by whose name days are refused: they are sent for a time
 * that is a number of them.
 */
export function refusedAs(option: string | undefined, error: unknown): unknown {
  if (option === undefined || !(error instanceof CliError)) return error;
  const named = (fact: Fact | number): Fact | number => {
    if (typeof fact !== 'object') return fact;
    if (fact.name !== 'body-field') return { ...fact, of: fact.of.map(named) };
    return fact.of[0] === 'expire_after_days' ? { ...fact, of: [...fact.of, option] } : fact;
  };
  return error.with({ facts: error.facts.map((fact) => named(fact) as Fact) });
}

/** Whether it was given as a date, as which it is said then. */
export const isDate = (asked: Expiry | undefined): asked is { readonly at: number } =>
  asked !== undefined && 'at' in asked;

/** Tells a person which time was understood, where nothing that is created says it. */
export async function sayExpiry(
  asked: Expiry | undefined,
  verb: 'expires' | 'closes',
  { remark }: Terminal,
): Promise<void> {
  if (isDate(asked)) await remark(`${verb} on ${timeHere(asked.at)} at the latest`);
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

/**
 * The edition of an instance: known, or asked for once. A dry run, which sends nothing if it can, need not ask for whole
 * days.
 */
export function editionOf(
  { target }: Pick<Session, 'target'>,
  instance: () => Promise<Pick<Instance, 'api'>>,
  dryRun: boolean,
): (seconds: number) => Promise<Edition> {
  const asked = lazy(async () => askEdition((await instance()).api));
  return async (seconds) => {
    const { edition: known } = target();
    if (known !== undefined) return known;
    const whole = seconds % DAY_SECONDS === 0;
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

import type { NewPush } from '../contract/api';
import {
  askedLifetime,
  comparedLifetimes,
  durationText,
  grantedLifetime,
  type LifetimeFields,
} from '../contract/lifetime';

type Value = number | boolean;

/** A limit that the instance granted differently than requested. */
export interface Difference {
  /** The option that requested it. */
  readonly limit: 'days' | 'views' | 'deletable' | 'retrieval step' | 'passphrase';
  /** Of `days` it may be a fraction. */
  readonly asked: Value;
  readonly granted: Value;
  /** The secret is available longer or more often, or is protected less, than requested. */
  readonly looser: boolean;
}

/** In seconds. */
const DAY = 86_400;

/** The limits that a push or a request asks for. */
type AskedLimits = LifetimeFields &
  Pick<NewPush, 'expire_after_views' | 'deletable_by_viewer' | 'retrieval_step' | 'passphrase'>;

/** A push or a request in a response. */
type Fields = Readonly<Record<string, unknown>>;

const isValue = (value: unknown): value is Value =>
  typeof value === 'number' || typeof value === 'boolean';

/**
 * Compares the granted limits with the requested ones. Instances silently replace values that they do not accept, and
 * respond with 201 (docs/wire.md, "Limits"). Fields that are missing or null in the response are not compared.
 */
export function differences(asked: AskedLimits, granted: Fields): Difference[] {
  type Limit = [Difference['limit'], asked: Value | undefined, granted: unknown];
  const lifetimes = comparedLifetimes(asked, granted);
  const limits: Limit[] = [
    ['days', lifetimes && lifetimes.asked / DAY, lifetimes && lifetimes.granted / DAY],
    ['views', asked.expire_after_views, granted.expire_after_views],
    ['deletable', asked.deletable_by_viewer, granted.deletable_by_viewer],
    ['retrieval step', asked.retrieval_step, granted.retrieval_step],
    // "" without a passphrase; otherwise the passphrase itself, or null (docs/wire.md, "Push object").
    ['passphrase', asked.passphrase === undefined ? undefined : true, granted.passphrase !== ''],
  ];
  return limits.flatMap(([limit, asked, granted]) => {
    if (asked === undefined || !isValue(granted) || asked === granted) return [];
    // Only a recipient who may delete the push makes it looser; a step and a passphrase protect.
    const looser =
      limit === 'deletable' || typeof asked === 'number' ? granted > asked : granted < asked;
    return [{ limit, asked, granted, looser }];
  });
}

/** The limits that were requested, and that the response does not tell. */
export function unconfirmed(asked: AskedLimits, granted: Fields): ('days' | 'views')[] {
  const days = askedLifetime(asked) !== undefined && grantedLifetime(granted) === undefined;
  const views = asked.expire_after_views !== undefined && granted.expire_after_views == null;
  return [...(days ? ['days' as const] : []), ...(views ? ['views' as const] : [])];
}

/** `30 days requested, 7 granted`; `6 hours requested, 7 days granted`; `retrieval step requested, not granted`. */
export function differenceText({ limit, asked, granted }: Difference): string {
  if (typeof asked !== 'number' || typeof granted !== 'number')
    return asked ? `${limit} requested, not granted` : `${limit} granted, not requested`;
  if (Number.isInteger(asked) && Number.isInteger(granted))
    return `${asked} ${asked === 1 ? limit.slice(0, -1) : limit} requested, ${granted} granted`;
  return `${durationText(asked * DAY)} requested, ${durationText(granted * DAY)} granted`;
}

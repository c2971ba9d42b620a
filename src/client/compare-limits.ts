import type { NewPush, Push } from '../contract';

/** A limit that the instance granted differently than requested. */
export interface Difference {
  /** The option that requested it. */
  readonly limit: 'days' | 'views' | 'deletable' | 'retrieval step' | 'passphrase';
  readonly asked: number | boolean;
  readonly granted: number | boolean;
  /** The secret is available longer or more often, or is protected less, than requested. */
  readonly looser: boolean;
}

const DAY = 24 * 60 * 60 * 1000;

/** Days by `expire_after_duration` of the commercial edition (docs/wire.md, "Editions and versions"). */
const durationDays = [
  15 / 1440,
  30 / 1440,
  45 / 1440,
  1 / 24,
  6 / 24,
  12 / 24,
  1,
  2,
  3,
  4,
  5,
  6,
  7,
  14,
  21,
  30,
  60,
  90,
];

/**
 * Compares the granted limits with the requested ones. Instances silently replace values that they do not accept, and
 * answer 201 (docs/wire.md, "Limits"). Fields that are missing or null in the response are not compared.
 */
export function differences(asked: NewPush, granted: Push): Difference[] {
  return [
    number('days', asked.expire_after_days, grantedDays(granted)),
    number('views', asked.expire_after_views, granted.expire_after_views),
    flag('deletable', asked.deletable_by_viewer, granted.deletable_by_viewer, true),
    flag('retrieval step', asked.retrieval_step, granted.retrieval_step, false),
    // "" without a passphrase; otherwise the passphrase itself, or null (docs/wire.md, "Push object").
    flag(
      'passphrase',
      asked.passphrase === undefined ? undefined : true,
      granted.passphrase !== '',
      false,
    ),
  ].filter((one) => one !== undefined);
}

/** The lifetime in days: from the field of the open-source edition, else from those of the commercial one. */
function grantedDays(push: Push): number | undefined {
  const { expire_after_days: days, expire_after_duration: duration, expires_at: at } = push;
  if (typeof days === 'number') return days;
  if (typeof duration === 'number' && durationDays[duration] !== undefined)
    return durationDays[duration];
  const span = Date.parse(String(at)) - Date.parse(String(push.created_at));
  // Rounded to the minute: the two times are not taken at the same instant.
  return Number.isNaN(span) ? undefined : Math.round((span / DAY) * 1440) / 1440;
}

function number(
  limit: 'days' | 'views',
  asked: number | undefined,
  granted: number | null | undefined,
): Difference | undefined {
  if (asked === undefined || typeof granted !== 'number' || asked === granted) return undefined;
  return { limit, asked, granted, looser: granted > asked };
}

function flag(
  limit: 'deletable' | 'retrieval step' | 'passphrase',
  asked: boolean | undefined,
  granted: boolean | null | undefined,
  looserValue: boolean,
): Difference | undefined {
  if (asked === undefined || typeof granted !== 'boolean' || asked === granted) return undefined;
  return { limit, asked, granted, looser: granted === looserValue };
}

/** `30 days asked, 7 granted`; `retrieval step asked, none granted`. */
export function differenceText({ limit, asked, granted }: Difference): string {
  if (typeof asked === 'number')
    return `${asked} ${asked === 1 ? limit.slice(0, -1) : limit} asked, ${granted} granted`;
  return asked ? `${limit} asked, not granted` : `no ${limit} asked, but granted`;
}

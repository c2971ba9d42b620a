import type { NewPush, Push } from '../contract';

type Value = number | boolean;

/** A limit that the instance granted differently than requested. */
export interface Difference {
  /** The option that requested it. */
  readonly limit: 'days' | 'views' | 'deletable' | 'retrieval step' | 'passphrase';
  readonly asked: Value;
  readonly granted: Value;
  /** The secret is available longer or more often, or is protected less, than requested. */
  readonly looser: boolean;
}

/** In minutes. */
const DAY = 24 * 60;

/** Minutes by `expire_after_duration` of the commercial edition (docs/wire.md, "Editions and versions"). */
const durations = [
  15, 30, 45, 60, 360, 720, 1440, 2880, 4320, 5760, 7200, 8640, 10_080, 20_160, 30_240, 43_200,
  86_400, 129_600,
];

/**
 * Compares the granted limits with the requested ones. Instances silently replace values that they do not accept, and
 * answer 201 (docs/wire.md, "Limits"). Fields that are missing or null in the response are not compared.
 */
export function differences(asked: NewPush, granted: Push): Difference[] {
  type Limit = [Difference['limit'], asked: Value | undefined, granted: Value | null | undefined];
  const limits: Limit[] = [
    ['days', asked.expire_after_days, grantedDays(granted)],
    ['views', asked.expire_after_views, granted.expire_after_views],
    ['deletable', asked.deletable_by_viewer, granted.deletable_by_viewer],
    ['retrieval step', asked.retrieval_step, granted.retrieval_step],
    // "" without a passphrase; otherwise the passphrase itself, or null (docs/wire.md, "Push object").
    ['passphrase', asked.passphrase === undefined ? undefined : true, granted.passphrase !== ''],
  ];
  return limits.flatMap(([limit, asked, granted]) => {
    if (asked === undefined || granted == null || asked === granted) return [];
    // Only a recipient who may delete the push makes it looser; a step and a passphrase protect.
    const looser =
      limit === 'deletable' || typeof asked === 'number' ? granted > asked : granted < asked;
    return [{ limit, asked, granted, looser }];
  });
}

/** The lifetime in days: from the field of the open-source edition, else from those of the commercial one. */
function grantedDays(push: Push): number | undefined {
  const { expire_after_days: days, expire_after_duration: duration, expires_at: at } = push;
  if (typeof days === 'number') return days;
  const minutes = typeof duration === 'number' ? durations[duration] : undefined;
  if (minutes !== undefined) return minutes / DAY;
  const span = Date.parse(String(at)) - Date.parse(String(push.created_at));
  // Rounded to the minute: the two times are not taken at the same instant.
  return Number.isNaN(span) ? undefined : Math.round(span / 60_000) / DAY;
}

/** `30 days requested, 7 granted`; `retrieval step requested, not granted`. */
export function differenceText({ limit, asked, granted }: Difference): string {
  if (typeof asked === 'number')
    return `${asked} ${asked === 1 ? limit.slice(0, -1) : limit} requested, ${granted} granted`;
  return asked ? `${limit} requested, not granted` : `${limit} granted, not requested`;
}

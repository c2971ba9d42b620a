import { durations, type NewPush, type Push } from './api';

const MINUTE = 60;
const DAY = 86_400;

/** Seconds that a request asks for, if it asks for any. */
export function askedLifetime(request: NewPush): number | undefined {
  const { expire_after_days: days, expire_after_duration: index, expires_in } = request;
  return expires_in ?? (days === undefined ? durations[index ?? -1] : days * DAY);
}

/**
 * Seconds between creation and expiry. `expires_at` decides, or else `expires_in`, as an instance may return the days that
 * it ignored.
 */
export function grantedLifetime(push: Push): number | undefined {
  const { expire_after_days: days, expire_after_duration: index, expires_in } = push;
  const span = Date.parse(String(push.expires_at)) - Date.parse(String(push.created_at));
  if (!Number.isNaN(span)) return withoutSkew(Math.round(span / 1000));
  if (Number.isInteger(expires_in) && Number(expires_in) > 0)
    return withoutSkew(Number(expires_in));
  return durations[index ?? -1] ?? (typeof days === 'number' ? days * DAY : undefined);
}

/** Rounds seconds that are almost minutes: an instance does not take both times at the same instant. */
function withoutSkew(seconds: number): number {
  const minutes = Math.round(seconds / MINUTE) * MINUTE;
  return Math.abs(seconds - minutes) <= 2 ? minutes : seconds;
}

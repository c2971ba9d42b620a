import type { AuditEntry, Push } from '../contract';
import { eventKey, readAuditLog } from './audit-log';
import type { Api } from './client';
import { pages } from './pages';

/** What has become of a push. */
export interface Sighting {
  /** Events that no look before saw, oldest first. */
  readonly events: readonly AuditEntry[];
  readonly state: 'waiting' | 'viewed' | 'expired';
}

export interface Watch {
  look(): Promise<Sighting>;
}

/** Milliseconds after which the listing is asked even if nothing seems to have happened: clocks differ. */
const RECHECK = 5 * 60_000;
const DAY = 86_400_000;

/**
 * Watches an own push without taking a view. Views and deletions are in the audit log. That its days are over is not,
 * so the listing of active pushes is asked for it when the time seems to have come.
 */
export function watch(api: Api, token: string, now: () => Date): Watch {
  const seen = new Set<string>();
  let askAt = 0;
  let state: Sighting['state'] = 'waiting';
  const readLog = async () => {
    const log = await readAuditLog(api, token, 'oldest');
    const fresh = log.filter((event) => !seen.has(eventKey(event)));
    for (const event of fresh) seen.add(eventKey(event));
    if (fresh.some(({ kind }) => kind === 'view')) state = 'viewed';
    return fresh;
  };
  const hasExpired = async (events: readonly AuditEntry[]) => {
    if (state !== 'waiting') return false;
    if (events.some(({ kind }) => kind === 'expire')) return true;
    const time = now().getTime();
    if (time < askAt) return false;
    const push = await findActive(api, token);
    const end = (push && endOf(push)) ?? Number.POSITIVE_INFINITY;
    askAt = Math.min(time + RECHECK, end > time ? end : Number.POSITIVE_INFINITY);
    return push === undefined || end + RECHECK <= time;
  };
  return {
    look: async () => {
      const events = await readLog();
      if (!(await hasExpired(events))) return { events, state };
      // A view may have come while the pages were read.
      events.push(...(await readLog()));
      if (state === 'waiting') state = 'expired';
      return { events, state };
    },
  };
}

async function findActive(api: Api, token: string): Promise<Push | undefined> {
  const key = (push: Push) => push.url_token;
  for await (const rows of pages((page) => api.list('active', page), { key })) {
    const found = rows.find((push) => key(push) === token);
    if (found) return found.expired === true ? undefined : found;
  }
  return undefined;
}

/** When its time is over, as far as it says; the commercial edition tells `expires_at`. */
function endOf({ expires_at, created_at, expire_after_days }: Push): number | undefined {
  const told = typeof expires_at === 'string' ? Date.parse(expires_at) : Number.NaN;
  if (!Number.isNaN(told)) return told;
  const end = Date.parse(created_at ?? '') + (expire_after_days ?? Number.NaN) * DAY;
  return Number.isNaN(end) ? undefined : end;
}

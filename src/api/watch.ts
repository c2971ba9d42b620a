import type { Api } from './client';
import { type AuditEntry, limits, type Push } from './contract';

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
 * Watches an own push without taking a view. Views and deletions stand in the audit log; that its days are over
 * stands nowhere, so the listing of active pushes tells that, asked when the time seems to have come.
 */
export function watch(api: Api, token: string, now: () => Date): Watch {
  let seen: string[] = [];
  let askAt = 0;
  let state: Sighting['state'] = 'waiting';
  const readLog = async () => {
    const fresh = await newEvents(api, token, seen);
    seen = [...fresh.map(keyOf), ...seen];
    if (fresh.some(({ kind }) => kind === 'view')) state = 'viewed';
    else if (state === 'waiting' && fresh.some(({ kind }) => kind === 'expire')) state = 'expired';
    return fresh.reverse();
  };
  const isOver = async () => {
    const time = now().getTime();
    if (state !== 'waiting' || time < askAt) return false;
    const push = await findActive(api, token);
    const end = (push && endOf(push)) ?? Number.POSITIVE_INFINITY;
    askAt = Math.min(time + RECHECK, end > time ? end : Number.POSITIVE_INFINITY);
    return push === undefined || end + RECHECK <= time;
  };
  return {
    look: async () => {
      const events = await readLog();
      if (!(await isOver())) return { events, state };
      // Perhaps it is over because somebody has just looked.
      events.push(...(await readLog()));
      if (state === 'waiting') state = 'expired';
      return { events, state };
    },
  };
}

/** What fields of an entry stay as they are; those of an e-mail change while it is sent. */
function keyOf({ kind, created_at, ip, user_agent }: AuditEntry): string {
  return JSON.stringify([kind, created_at, ip, user_agent]);
}

/** Newest first, as the log has them; as many pages as hold new ones. */
async function newEvents(api: Api, token: string, seen: readonly string[]): Promise<AuditEntry[]> {
  const events: AuditEntry[] = [];
  for (let page = 1; page <= limits.page.max; page++) {
    const rows = await api.audit(token, page);
    for (const row of rows) events.push(row);
    const known = knownFrom(events.map(keyOf), seen);
    if (known < events.length) return events.slice(0, known);
    if (rows.length < limits.rowsPerPage) break;
  }
  return events;
}

/** From where on the keys are those seen before. */
function knownFrom(keys: readonly string[], seen: readonly string[]): number {
  const found = keys.findIndex((_, from) =>
    keys.slice(from).every((key, at) => at >= seen.length || key === seen[at]),
  );
  return seen.length === 0 || found === -1 ? keys.length : found;
}

async function findActive(api: Api, token: string): Promise<Push | undefined> {
  for (let page = 1; page <= limits.page.max; page++) {
    const rows = await api.list('active', page);
    const found = rows.find((push) => push.url_token === token);
    if (found) return found.expired === true ? undefined : found;
    if (rows.length === 0) return undefined;
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

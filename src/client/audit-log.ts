import type { AuditEntry, Push } from '../contract/api';
import type { Api } from './client';
import { findListed, pages } from './pages';

/**
 * Reads the whole audit log of a push, sorted by time; events with the same time keep their order. Neither the order of
 * the log nor the length of its pages is relied on: instances differ (docs/wire.md, "What a client must not rely on").
 * @throws CliError as `Api.audit` does
 */
export async function readAuditLog(
  api: Pick<Api, 'audit'>,
  token: string,
  first: 'oldest' | 'newest',
): Promise<AuditEntry[]> {
  const events: AuditEntry[] = [];
  const log = pages((page) => api.audit(token, page), { key: eventKey });
  for await (const page of log) for (const event of page) events.push(event);
  const timed = withTimes(events);
  timed.sort(([one], [other]) =>
    one === other ? 0 : one < other === (first === 'oldest') ? -1 : 1,
  );
  return timed.map(([, event]) => event);
}

/** Identifies an event by the fields that never change; those of an e-mail change while it is sent. */
function eventKey({ kind, created_at, ip, user_agent }: AuditEntry): string {
  return JSON.stringify([kind, created_at, ip, user_agent]);
}

/** Each event with its time in milliseconds; an event without a time gets that of the previous event. */
function withTimes(events: readonly AuditEntry[]): [number, AuditEntry][] {
  let time = Number.NEGATIVE_INFINITY;
  return events.map((event) => {
    const parsed = Date.parse(event.created_at ?? '');
    if (!Number.isNaN(parsed)) time = parsed;
    return [time, event];
  });
}

export interface PushProgress {
  /** Events since the last call, oldest first. */
  readonly events: readonly AuditEntry[];
  readonly state: 'waiting' | 'viewed' | 'expired';
}

/** Milliseconds between two requests for the listing while nothing seems to happen: clocks differ. */
const RECHECK = 5 * 60_000;
const DAY = 86_400_000;

/**
 * Returns a function that polls the owner's push once, without using a view. Views and deletions are in the audit log;
 * the end of its lifetime is not, so the listing of active pushes is read when the push should have expired.
 * @param owned.account the id of the account that the push belongs to
 * @param owned.find reads the push, if not from the listing
 * @throws CliError (the returned function) as `Api.audit` and `Api.list` do
 */
export function pushPoller(
  api: Api,
  token: string,
  now: () => Date,
  owned: {
    account?: number | undefined;
    find?: (() => Promise<Push | undefined>) | undefined;
  } = {},
): () => Promise<PushProgress> {
  const { account, find = () => findActive(api, token, account) } = owned;
  const seen = new Set<string>();
  let askAt = 0;
  let state: PushProgress['state'] = 'waiting';
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
    const push = await find();
    const end = (push && expiryOf(push)) ?? Number.POSITIVE_INFINITY;
    askAt = Math.min(time + RECHECK, end > time ? end : Number.POSITIVE_INFINITY);
    return push === undefined || end + RECHECK <= time;
  };
  return async () => {
    const events = await readLog();
    if (!(await hasExpired(events))) return { events, state };
    // A view may have been logged while the listing was read.
    const last = await readLog();
    if (state === 'waiting') state = 'expired';
    return { events: [...events, ...last], state };
  };
}

async function findActive(
  api: Api,
  token: string,
  account: number | undefined,
): Promise<Push | undefined> {
  const found = await findListed((page) => api.list('active', page, account), token);
  return found?.expired === true ? undefined : found;
}

/** When a push expires, in milliseconds, if its fields say so; `expires_at` is of the commercial edition. */
function expiryOf({ expires_at, created_at, expire_after_days }: Push): number | undefined {
  const stated = typeof expires_at === 'string' ? Date.parse(expires_at) : Number.NaN;
  if (!Number.isNaN(stated)) return stated;
  const end = Date.parse(created_at ?? '') + (expire_after_days ?? Number.NaN) * DAY;
  return Number.isNaN(end) ? undefined : end;
}

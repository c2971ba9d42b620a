import { REQUEST_STATES, type RequestState } from '../contract/api';
import type { AuditEntry, Push, SecretRequest } from '../contract/decode';
import { DAY_MS } from '../contract/lifetime';
import { CliError, phrase } from '../platform/errors';
import type { Api } from './client';
import { type Item, pushItem, requestItem } from './item';
import { findListed, pages } from './pages';

/**
 * Reads the whole audit log of a push or request, sorted by time; events with the same time keep their order. Instances
 * differ in the order of the log and in the length of its pages (docs/wire.md, "What a client must not rely on").
 */
export async function readAuditLog(
  item: Pick<Item, 'audit'>,
  first: 'oldest' | 'newest',
): Promise<AuditEntry[]> {
  const log = pages((page) => item.audit(page), { key: eventKey });
  const timed: { readonly event: AuditEntry; readonly time: number }[] = [];
  // An event without a time gets the time of the event before it.
  let time = Number.NEGATIVE_INFINITY;
  for await (const page of log)
    for (const event of page) {
      const parsed = Date.parse(event.created_at ?? '');
      if (!Number.isNaN(parsed)) time = parsed;
      timed.push({ event, time });
    }
  const sign = first === 'oldest' ? 1 : -1;
  timed.sort((a, b) => (a.time === b.time ? 0 : sign * (a.time - b.time)));
  return timed.map(({ event }) => event);
}

/** Identifies an event by fields that never change. Other fields of an e-mail's event change while it is sent. */
function eventKey({ kind, created_at, ip, user_agent }: AuditEntry): string {
  return JSON.stringify([kind, created_at, ip, user_agent]);
}

interface PushProgress {
  /** Events since the last call, oldest first. */
  readonly events: readonly AuditEntry[];
  readonly state: 'waiting' | 'viewed' | 'expired';
}

/** The listing is read again after this time, even if the push should not have expired yet, since clocks differ. */
const RECHECK_MS = 5 * 60_000;

/**
 * Returns a function that polls the owner's push once, without using a view. Views and deletions are in the audit log.
 * The end of a push's lifetime is not, so the listing of active pushes is read when the push should have expired.
 */
export function pushPoller(
  api: Api,
  token: string,
  now: () => Date,
  account?: number,
): () => Promise<PushProgress> {
  const seen = new Set<string>();
  let askAt = 0;
  let state: PushProgress['state'] = 'waiting';
  const readLog = async () => {
    const log = await readAuditLog(pushItem(api, token), 'oldest');
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
    const listed = await findOwnPush(api, token, ['active'], account);
    const push = listed?.expired === true ? undefined : listed;
    const end = (push && expiryOf(push)) ?? Number.POSITIVE_INFINITY;
    askAt = Math.min(time + RECHECK_MS, end > time ? end : Number.POSITIVE_INFINITY);
    return push === undefined || end + RECHECK_MS <= time;
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

/**
 * Finds a push in listings of its owner. If the token may not list, `pwpush serve` returns the fields of what it created
 * with a preview.
 */
export async function findOwnPush(
  api: Api,
  token: string,
  states: readonly ('active' | 'expired')[],
  account: number | undefined,
): Promise<Push | undefined> {
  try {
    for (const state of states) {
      const push = await findListed((page) => api.list(state, page, account), token);
      if (push) return push;
    }
    return undefined;
  } catch (error) {
    const { url, ...own } = await insteadOf(error, () => api.preview(token));
    if (own.expired == null) throw error;
    return { ...own, url_token: token, html_url: url };
  }
}

/** @throws an error that is not the refusal of a listing */
async function insteadOf<T>(error: unknown, ask: () => Promise<T>): Promise<T> {
  if (error instanceof CliError && error.code === 'forbidden') return ask();
  throw error;
}

/** Returns milliseconds since 1970; undefined if no field tells. Only the commercial edition has `expires_at`. */
function expiryOf({ expires_at, created_at, expire_after_days }: Push): number | undefined {
  const stated = typeof expires_at === 'string' ? Date.parse(expires_at) : Number.NaN;
  if (!Number.isNaN(stated)) return stated;
  const end = Date.parse(created_at ?? '') + (expire_after_days ?? Number.NaN) * DAY_MS;
  return Number.isNaN(end) ? undefined : end;
}

/**
 * Returns a function that asks once for the state of the owner's request. It does not read the request, which would
 * take the answer. `pwpush serve` tells the state in a preview. At other instances, the listings are read in the order
 * in which a request moves through them.
 * @throws CliError (the returned function): not_found if the request is in no listing
 */
export function requestPoller(
  api: Pick<Api, 'requests'>,
  token: string,
  account?: number,
): () => Promise<{ state: 'open' | 'answered' | 'closed'; request: SecretRequest }> {
  const item = requestItem(api, token);
  return async () => {
    const preview = await item.preview();
    const known = REQUEST_STATES.find((state) => state === preview.state);
    const own = known
      ? { state: known, request: { url_token: token, html_url: preview.url, state: known } }
      : await findOwnRequest(api.requests, token, account);
    if (!own) throw new CliError('not_found', phrase('none-of-yours'));
    const { state, request } = own;
    if (state === 'open') return { state, request };
    const answered = state === 'ready' || (await wasAnswered(item));
    return { state: answered ? 'answered' : 'closed', request };
  };
}

export async function findOwnRequest(
  { list, preview }: Pick<Api['requests'], 'list' | 'preview'>,
  token: string,
  account: number | undefined,
): Promise<{ readonly state: RequestState; readonly request: SecretRequest } | undefined> {
  try {
    for (const state of REQUEST_STATES) {
      const request = await findListed((page) => list(state, page, account), token);
      if (request) return { state, request };
    }
    return undefined;
  } catch (error) {
    const { url, ...own } = await insteadOf(error, () => preview(token));
    const state = REQUEST_STATES.find((known) => known === own.state);
    // Anyone gets the state; its owner gets the time, too.
    if (!state || own.created_at == null) return undefined;
    return { state, request: { ...own, url_token: token, html_url: url } };
  }
}

/** The log of a closed request tells whether it was answered. The name of the event differs by edition. */
async function wasAnswered(item: Item): Promise<boolean> {
  const log = await readAuditLog(item, 'newest');
  return log.some(({ kind }) => /respon|answer/i.test(kind) && !/fail/i.test(kind));
}

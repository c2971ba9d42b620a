import type { Vault } from '../keys/vault';
import type { PushEvents } from '../ops/metrics';
import type { CheckedSettings } from '../service-settings';
import { type Origin, recordEvent, recordRepeated } from '../store/audit-rows';
import { type FileRow, listFiles } from '../store/file-rows';
import type { PushRow, SecretRow, StoredPush } from '../store/push-rows';
import * as store from '../store/push-rows';
import type { Database, Sql } from '../store/sql';
import type { Space } from './housekeeping';
import type { Owner } from './owners';

export const DAY = 86_400_000;

export interface RuleOptions extends Omit<CheckedSettings, 'rateLimit'> {
  readonly database: Database;
  readonly vault: Vault;
  readonly space: Space;
  readonly events: PushEvents;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Receives errors of background work, and rows that were changed by hand. */
  readonly report: (error: unknown) => void;
}

/** Who sent a request, and from where. */
export interface Visitor extends Origin {
  readonly owner: Owner | undefined;
  /** Whether the visitor has the management token of the push. */
  readonly manages?: boolean;
  /** Aborts when the client has disconnected. */
  readonly signal?: AbortSignal | undefined;
  /** Whose share of the passphrase checks the request takes; undefined for none. */
  readonly client?: string | undefined;
}

/** What a row is to those who have its link; undefined for an answer, which has none. */
export function whatIs({ kind }: Pick<PushRow, 'kind'>): 'push' | 'request' | undefined {
  if (kind === 'answer') return undefined;
  return kind === 'request' ? 'request' : 'push';
}

/** Full days left, rounded up; never below 0. */
export function daysRemaining(push: PushRow, now: number): number {
  return Math.max(0, Math.ceil((push.expires_at - now) / DAY));
}

export function viewsRemaining(push: PushRow): number {
  return Math.max(0, push.expire_after_views - push.views);
}

/** The push as it reads at that time: expired when its time has passed, even if no sweep has ended it yet. */
export function stateAt(push: PushRow, now: number): PushRow {
  if (push.expired_at !== null || push.expires_at > now) return push;
  return { ...push, expired_at: push.expires_at, updated_at: push.expires_at };
}

export function isOwn(push: PushRow, { owner, manages = false }: Visitor): boolean {
  return owner === undefined ? manages && push.owner_id === null : owner.id === push.owner_id;
}

/** Whether this visitor may expire the push; a viewer may never expire a URL push. */
export function mayExpire(push: PushRow, visitor: Visitor): boolean {
  return isOwn(push, visitor) || (push.kind !== 'url' && push.deletable_by_viewer === 1);
}

export interface Retrieval {
  readonly push: PushRow;
  readonly visitor: Visitor;
  /** Milliseconds. */
  readonly now: number;
  /** Failures that have an entry of their own in the audit log of a push. */
  readonly maxFailures: number;
}

export interface Claim {
  readonly claimed: PushRow;
  /** Undefined when the push had expired. */
  readonly secret: SecretRow | undefined;
  readonly files: readonly FileRow[];
  readonly ended: boolean;
}

/** Milliseconds for which the links to a push's files, made with each view, are valid. */
export const LINK_TIME = 5 * 60_000;

/**
 * Takes a view, unless the visitor is the owner, and returns the secret; the last view ends the push. Its files stay
 * for as long as the links are valid, but not longer than the push's days. Runs in the caller's transaction.
 */
export async function claimView(sql: Sql, retrieval: Retrieval): Promise<Claim> {
  const { push, visitor, now } = retrieval;
  const own = isOwn(push, visitor);
  const take = own ? store.findActive : store.takeView;
  // A push that was answered as expired stays expired if the clock is set back.
  const claimed = push.expired_at === null ? await take(sql, push.id, now) : undefined;
  // Concurrent, as they are independent: PostgreSQL answers both in one round trip.
  const [secret, files] = claimed
    ? await Promise.all([
        store.findSecret(sql, push.id),
        push.kind === 'file' ? listFiles(sql, push.id) : [],
      ])
    : [undefined, []];
  if (!claimed || !secret) return recordMiss(sql, retrieval);
  const last = claimed.views >= claimed.expire_after_views;
  const filesUntil = Math.min(now + LINK_TIME, push.expires_at);
  const [ended] = await Promise.all([
    last && store.endWithView(sql, push.id, now, filesUntil),
    recordEvent(sql, {
      pushId: push.id,
      kind: own ? 'owner_view' : 'view',
      from: visitor,
      at: now,
    }),
  ]);
  return { claimed: { ...claimed, url_token: push.url_token }, secret, files, ended };
}

/** Records a retrieval of a push that has expired, and ends the push if no sweep has done so yet. */
async function recordMiss(
  sql: Sql,
  { push, visitor, now, maxFailures }: Retrieval,
): Promise<Claim> {
  const due = push.expired_at !== null || push.expires_at <= now;
  const ended = due && (await store.endPush(sql, push.id, push.expires_at, 0)) !== undefined;
  const failure = { pushId: push.id, kind: 'failed_view', from: visitor, at: now } as const;
  await recordRepeated(sql, failure, maxFailures);
  const row = (await store.findPush(sql, push.lookup)) as StoredPush;
  const claimed = { ...row, url_token: push.url_token };
  return { claimed, secret: undefined, files: [], ended };
}

import { DAY_MS } from '../../contract/lifetime';
import type { Vault } from '../keys/vault';
import type { PushEvents } from '../ops/metrics';
import type { Owner } from '../owners/owners';
import type { Abandonable } from '../queues';
import { ServiceRefusal } from '../service-errors';
import type { CheckedSettings } from '../service-settings';
import type { Origin } from '../store/audit-rows';
import type { PushRow } from '../store/push-rows';
import type { Database } from '../store/sql';
import type { Space } from './space';

export interface RuleOptions extends Omit<CheckedSettings, 'rateLimit' | 'database'> {
  readonly database: Database;
  readonly vault: Vault;
  readonly space: Space;
  readonly events: PushEvents;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Receives errors of background work, and rows that were changed by hand. */
  readonly report: (error: unknown) => void;
}

/** The sender of an HTTP request. */
export interface Visitor extends Origin {
  readonly owner: Owner | undefined;
  /** Aborted when the client disconnects. */
  readonly signal?: Abandonable | undefined;
  /** Requests with the same key are done once (`KeyedRequest`). */
  readonly idempotencyKey?: string | undefined;
  /** Called with a hash of `idempotencyKey` when a response is kept for the key, and when it is sent again. */
  readonly kept?: ((key: string) => void) | undefined;
  /** Proves that the visitor has the key of an encrypted push (`ProofCheck`). */
  readonly keyProof?: string | undefined;
  /** Whether the client says that it has no private key; then a push to public keys is refused without using a view. */
  readonly withoutIdentity?: boolean;
  /** Base addresses of this instance: the one in links, and the one to which the request was sent. */
  readonly bases?: readonly string[];
  /** Limits how many passphrase checks one client can run and wait for; undefined for no such limit. */
  readonly client?: string | undefined;
}

/** Returns what the link of a row opens; undefined for an answer, which has no link. */
export function whatIs({ kind }: Pick<PushRow, 'kind'>): 'push' | 'request' | undefined {
  if (kind === 'answer') return undefined;
  return kind === 'request' ? 'request' : 'push';
}

/** Full days left, rounded up; never below 0. */
export function daysRemaining(push: PushRow, now: number): number {
  return Math.max(0, Math.ceil((push.expires_at - now) / DAY_MS));
}

export function viewsRemaining(push: PushRow): number {
  return Math.max(0, push.expire_after_views - push.views);
}

/** Returns the push as expired once its time has passed, even if no sweep has ended the row yet. */
export function stateAt(push: PushRow, now: number): PushRow {
  if (push.expired_at !== null || push.expires_at > now) return push;
  return { ...push, expired_at: push.expires_at, updated_at: push.expires_at };
}

/** Whether the visitor's token reaches the row as its owner: one of scope `push` reaches what it created. */
export function isOwn(push: PushRow, { owner }: Pick<Visitor, 'owner'>): boolean {
  const ofOwner = owner !== undefined && owner.id === push.owner_id;
  return ofOwner && (owner.scope === 'all' || owner.maker === push.maker);
}

/** Whether the visitor's token may not list, so that other responses tell it of what it created. */
export function isMaker(row: PushRow, visitor: Visitor): boolean {
  return visitor.owner?.scope === 'push' && isOwn(row, visitor);
}

/** A retrieval with a token of scope `push` takes the answer of its request, but uses a view of a push. */
export function viewsAsOwner(row: PushRow, visitor: Visitor): boolean {
  return isOwn(row, visitor) && (row.kind === 'request' || !isMaker(row, visitor));
}

/** Returns the refusal of what the visitor is not the owner of. */
export function notOwn({ owner }: Visitor, message: string): ServiceRefusal {
  const scope = owner?.scope ?? 'all';
  return scope === 'all'
    ? new ServiceRefusal('forbidden', message)
    : new ServiceRefusal('forbidden', 'This token reaches only what it created.', { scope });
}

/** Viewers may expire a push if its sender allows it, but never one of kind url. */
export function mayExpire(push: PushRow, visitor: Visitor): boolean {
  return isOwn(push, visitor) || (push.kind !== 'url' && push.deletable_by_viewer === 1);
}

/** Milliseconds for which a link to a file is valid. Each view makes new links. */
export const LINK_TIME = 5 * 60_000;

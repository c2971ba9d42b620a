import { DAY_MS } from '../../contract/lifetime';
import type { Vault } from '../keys/vault';
import type { PushEvents } from '../ops/metrics';
import type { Owner } from '../owners/owners';
import type { Abandonable } from '../queues';
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

/** Who sent a request, and from where. */
export interface Visitor extends Origin {
  readonly owner: Owner | undefined;
  /** Says when the client has disconnected. */
  readonly signal?: Abandonable | undefined;
  /** The same in all copies of a request, which is done once (`KeyedRequest`). */
  readonly idempotencyKey?: string | undefined;
  /** Called with a hash of `idempotencyKey` when a response is kept for it, and when that is sent again. */
  readonly kept?: ((key: string) => void) | undefined;
  /** Shows that the visitor has the key of an encrypted push (`ProofCheck`). */
  readonly keyProof?: string | undefined;
  /** Whether the visitor says that they have no private key, and can read no push to public keys. */
  readonly withoutIdentity?: boolean;
  /** The addresses of this instance as links have it, and as the request was sent to it. */
  readonly bases?: readonly string[];
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
  return Math.max(0, Math.ceil((push.expires_at - now) / DAY_MS));
}

export function viewsRemaining(push: PushRow): number {
  return Math.max(0, push.expire_after_views - push.views);
}

/** The push as it reads then: expired when its time has passed, even if no sweep has ended it yet. */
export function stateAt(push: PushRow, now: number): PushRow {
  if (push.expired_at !== null || push.expires_at > now) return push;
  return { ...push, expired_at: push.expires_at, updated_at: push.expires_at };
}

export function isOwn(push: PushRow, { owner }: Visitor): boolean {
  return owner !== undefined && owner.id === push.owner_id;
}

/** Whether this visitor may expire the push; a viewer may never expire a URL push. */
export function mayExpire(push: PushRow, visitor: Visitor): boolean {
  return isOwn(push, visitor) || (push.kind !== 'url' && push.deletable_by_viewer === 1);
}

/** Milliseconds for which the links to a push's files, made with each view, are valid. */
export const LINK_TIME = 5 * 60_000;

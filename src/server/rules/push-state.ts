import type { Origin } from '../store/audit-rows';
import type { PushRow } from '../store/push-rows';
import type { Owner } from './owners';

export const DAY = 86_400_000;

/** Who sent a request, and from where. */
export interface Visitor extends Origin {
  readonly owner: Owner | undefined;
  /** Aborts when the client has disconnected. */
  readonly signal?: AbortSignal | undefined;
  /** Whose share of the passphrase checks the request takes; undefined for none. */
  readonly client?: string | undefined;
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

export function isOwn(push: PushRow, { owner }: Visitor): boolean {
  return owner !== undefined && owner.id === push.owner_id;
}

/** Whether this visitor may expire the push; a viewer may never expire a URL push. */
export function mayExpire(push: PushRow, visitor: Visitor): boolean {
  return isOwn(push, visitor) || (push.kind !== 'url' && push.deletable_by_viewer === 1);
}

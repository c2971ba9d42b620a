import { recordEvent, recordFailure } from '../store/audit-rows';
import { type FileRow, listFiles } from '../store/file-rows';
import type { PushRow, SecretRow, StoredPush } from '../store/push-rows';
import * as store from '../store/push-rows';
import type { Sql } from '../store/sql';
import type { Visitor } from './pushes';

export interface Claim {
  readonly claimed: PushRow;
  /** Nothing when the push had ended. */
  readonly secret: SecretRow | undefined;
  readonly files: readonly FileRow[];
  /** Whether this very claim ended the push. */
  readonly ended: boolean;
  /** Whether the owner looks, which takes no view. */
  readonly own: boolean;
}

/** Milliseconds that the links to a push's files, handed out with each view, can be followed. */
export const LINK_TIME = 5 * 60_000;

/**
 * Takes a view, unless the owner looks, and the secret with it; ends the push with its last view. Its files stay
 * for the links that were handed out, but not beyond the push's days. One transaction.
 */
export async function claim(
  sql: Sql,
  push: PushRow,
  visitor: Visitor,
  now: number,
  maxFailures: number,
): Promise<Claim> {
  const own = visitor.owner !== undefined && visitor.owner.id === push.owner_id;
  const take = own ? store.findActive : store.takeView;
  const { url_token } = push;
  // Whoever was told that it has expired is not shown it after all, should the clock step back.
  const claimed = push.expired_at === null ? await take(sql, push.id, now) : undefined;
  // What needs nothing of each other is asked for together: PostgreSQL answers it in one round trip.
  const [secret, files] = claimed
    ? await Promise.all([
        store.findSecret(sql, push.id),
        push.kind === 'file' ? listFiles(sql, push.id) : [],
      ])
    : [undefined, []];
  if (!claimed || !secret) return missed(sql, push, visitor, now, maxFailures);
  const last = claimed.views >= claimed.expire_after_views;
  const filesUntil = Math.min(now + LINK_TIME, push.expires_at);
  const [ended] = await Promise.all([
    last && store.endWithView(sql, push.id, now, filesUntil),
    recordEvent(sql, push.id, own ? 'owner_view' : 'view', visitor, now),
  ]);
  return { claimed: { ...claimed, url_token }, secret, files, ended, own };
}

/** Too late: the push had ended, or ends now because its time has passed. */
async function missed(
  sql: Sql,
  push: PushRow,
  visitor: Visitor,
  now: number,
  maxFailures: number,
): Promise<Claim> {
  const due = push.expired_at !== null || push.expires_at <= now;
  const ended = due && (await store.endPush(sql, push.id, push.expires_at, 0)) !== undefined;
  await recordFailure(sql, push.id, 'failed_view', visitor, now, maxFailures);
  const claimed = (await store.findPush(sql, push.lookup)) as StoredPush;
  return {
    claimed: { ...claimed, url_token: push.url_token },
    secret: undefined,
    files: [],
    ended,
    own: false,
  };
}

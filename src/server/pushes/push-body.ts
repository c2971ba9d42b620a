import { pushLink } from '../../contract/address';
import { pushFlags } from '../../contract/api';
import { fileBody, flagsOf, iso, jsonWithText } from '../http/responses';
import { daysRemaining, viewsRemaining } from '../rules/access';
import type { Viewed } from '../rules/views';
import type { PushRow } from '../store/push-rows';

/** Returns the push object of the API (docs/wire.md, "Push object"); `base` is the base URL of links. */
export function pushBody(push: PushRow, base: string, now: Date) {
  return {
    url_token: push.url_token,
    html_url: pushLink(base, push),
    json_url: `${base}/p/${push.url_token}.json`,
    expire_after_days: push.expire_after_days,
    expire_after_views: push.expire_after_views,
    days_remaining: daysRemaining(push, now.getTime()),
    views_remaining: viewsRemaining(push),
    expires_at: iso(push.expires_at),
    expired: push.expired_at !== null,
    expired_on: push.expired_at === null ? null : iso(push.expired_at),
    ...flagsOf(push, pushFlags),
    // Viewers may never delete a URL push.
    ...(push.kind === 'url' && { deletable_by_viewer: null }),
    deleted: push.deleted === 1,
    // The instance stores only a hash of the passphrase.
    passphrase: push.protected || push.expired_at !== null ? null : '',
    created_at: iso(push.created_at),
    updated_at: iso(push.updated_at),
  };
}

/** Returns the response to a retrieval; `base` is the base URL of links. */
export function retrievedPush({ row, text, files }: Viewed, base: string, now: Date) {
  const rest = { files: files.map((file) => fileBody(file, base)) };
  return jsonWithText(pushBody(row, base, now), 'payload', text, rest);
}

import { API_VERSION, APPLICATION } from '../../contract';
import type { ResponseBody } from '../openapi/schemas';
import type { OfferedFile } from '../rules/files';
import { daysRemaining, viewsRemaining } from '../rules/push-state';
import type { AuditRow } from '../store/audit-rows';
import type { PushRow } from '../store/push-rows';
import type { AppSettings } from './parts';

/** A push as the API returns it (docs/wire.md, "Push object"); `base` is what links begin with. */
export function pushBody(push: PushRow, base: string, now: Date): ResponseBody<'Push'> {
  const link = `${base}/p/${push.url_token}`;
  return {
    url_token: push.url_token,
    html_url: push.retrieval_step ? `${link}/r` : link,
    json_url: `${link}.json`,
    expire_after_days: push.expire_after_days,
    expire_after_views: push.expire_after_views,
    days_remaining: daysRemaining(push, now.getTime()),
    views_remaining: viewsRemaining(push),
    expired: push.expired_at !== null,
    expired_on: push.expired_at === null ? null : iso(push.expired_at),
    deletable_by_viewer: push.kind === 'url' ? null : push.deletable_by_viewer === 1,
    retrieval_step: push.retrieval_step === 1,
    deleted: push.deleted === 1,
    // Never the passphrase itself.
    passphrase: push.protected || push.expired_at !== null ? null : '',
    created_at: iso(push.created_at),
    updated_at: iso(push.updated_at),
  };
}

/** The link to a file; `base` is what links begin with. */
export function fileUrl({ link }: OfferedFile, base: string): string {
  return `${base}/files/${link}`;
}

/** A file as the API returns it; `base` is what links begin with. */
export function fileBody(file: OfferedFile, base: string): ResponseBody<'File'> {
  return { filename: file.name, content_type: file.type, url: fileUrl(file, base) };
}

export function auditBody(rows: readonly AuditRow[]): ResponseBody<'AuditLog'> {
  const logs = rows.map(({ ip, user_agent, referrer, kind, count, created_at, updated_at }) => ({
    ip,
    user_agent: user_agent ?? '',
    referrer: referrer ?? '',
    kind,
    ...(count > 1 ? { count } : {}),
    created_at: iso(created_at),
    updated_at: iso(updated_at ?? created_at),
  }));
  return { logs };
}

/** The version and features of this instance (docs/wire.md, "Editions and versions"). */
export function versionBody({
  version,
  anonymous,
  anonymousFiles,
}: Pick<AppSettings, 'version' | 'anonymous' | 'anonymousFiles'>): ResponseBody<'Version'> {
  return {
    application_version: version,
    api_version: API_VERSION,
    edition: 'oss',
    application: APPLICATION,
    features: {
      anonymous_access: anonymous,
      api_token_authentication: true,
      accounts: { enabled: false },
      pushes: {
        enabled: true,
        email_auto_dispatch: false,
        file_attachments: { enabled: true, requires_authentication: !anonymousFiles },
        url_pushes: { enabled: true },
        qr_code_pushes: { enabled: true },
      },
      requests: { enabled: false },
    },
  };
}

function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

import { APPLICATION, toldEdition } from '../../contract/api';
import type { HeldToken, InstanceVersion } from '../../contract/decode';
import { DAY_MS } from '../../contract/lifetime';
import type { Look } from './output';
import { type Pair, pairs } from './table';
import { ahead } from './wording';

/** A pipe gets one `name<TAB>value` a line. */
export function versionText(
  program: string,
  base: string,
  version: InstanceVersion,
  look: Look,
): string {
  const can = abilities(version);
  const rows: Pair[] = [
    ['pwpush', program],
    ['instance', base],
    ['application', look.tty ? applicationOf(version) : (version.application_version ?? '')],
    ['api', version.api_version ?? ''],
    ['edition', toldEdition(version) ?? ''],
    can !== undefined && ['features', can],
  ];
  return pairs(rows, look);
}

/** Tokens, and certificates, are spoken of when they end in fewer days. */
export const SOON_DAYS = 14;

/** Returns `expires in 3 days` for a token that ends soon. */
export function endText(token: HeldToken | undefined, now: Date): string | undefined {
  const end = token?.expires_at;
  if (end == null || Date.parse(end) - now.getTime() > SOON_DAYS * DAY_MS) return undefined;
  return `expires ${ahead(end, now)}`;
}

/** Returns a text such as `Password Pusher 2.11.4, API 2.1, edition oss`. */
export function instanceText(version: InstanceVersion): string {
  const edition = toldEdition(version);
  const parts = [
    applicationOf(version),
    version.api_version ? `API ${version.api_version}` : undefined,
    edition ? `edition ${edition}` : undefined,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

function applicationOf({ application, application_version }: InstanceVersion): string {
  const name = application === APPLICATION ? 'pwpush serve' : 'Password Pusher';
  return `${name} ${application_version ?? 'of an unknown version'}`;
}

/** Returns what the instance can and cannot do; undefined if it does not name its features. */
export function abilities({ features }: InstanceVersion): string | undefined {
  const pushes = features?.pushes as Record<string, unknown> | undefined;
  if (typeof pushes !== 'object' || pushes === null) return undefined;
  const of = (name: string) => pushes[name] as Record<string, unknown> | undefined;
  const files = of('file_attachments');
  const requests = features?.requests as Record<string, unknown> | undefined;
  const all: readonly (readonly [name: string, on: unknown])[] = [
    [files?.requires_authentication === true ? 'files (with a token)' : 'files', files?.enabled],
    ['URL pushes', of('url_pushes')?.enabled],
    ['QR codes', of('qr_code_pushes')?.enabled],
    ['pushes without a token', features?.anonymous_access],
    ...(typeof requests?.enabled === 'boolean' ? [['requests', requests.enabled] as const] : []),
    ['e-mail', pushes.email_auto_dispatch],
  ];
  const listedIf = (can: boolean) =>
    all.flatMap(([name, on]) => ((on === true) === can ? [name] : [])).join(', ');
  return [`can: ${listedIf(true)}`, `cannot: ${listedIf(false)}`]
    .filter((part) => !part.endsWith(': '))
    .join('; ');
}

import {
  exchangeRoute,
  IDENTITY_NEEDED,
  LINK_INCOMPLETE,
  OPENAPI_PATH,
  type pushFlags,
  type Route,
  type requestFlags,
  requestRoutes,
  routes,
} from '../../contract/api';
import type { OfferedFile } from '../rules/files';
import { isUndone, refusalStatuses, type ServiceRefusal } from '../service-errors';
import type { AuditRow } from '../store/audit-rows';
import type { PushRow } from '../store/push-rows';
import { byteLengthOf, EscapedText, escapesOf, LARGE, type Pieces, streamOf } from './escaped-text';

/** Returns a response with Content-Length, for the log and for HEAD. Large texts are escaped while they are sent. */
export function responseOf(
  body: string | Pieces,
  type: string,
  status = 200,
  headers: Record<string, string> = {},
): Response {
  const pieces = typeof body === 'string' ? [body] : body;
  const large = pieces.some((piece) => typeof piece !== 'string');
  return new Response(large ? streamOf(pieces) : pieces.join(''), {
    status,
    headers: { 'content-type': type, 'content-length': `${byteLengthOf(pieces)}`, ...headers },
  });
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return responseOf(JSON.stringify(body), 'application/json; charset=utf-8', status, headers);
}

/** Responds with a JSON object: the fields of `head`, the text, often large, under `name`, and the fields of `tail`. */
export function jsonWithText(head: object, name: string, text: string | null, tail: object) {
  if (text === null || text.length < LARGE) return json({ ...head, [name]: text, ...tail });
  const open = JSON.stringify({ ...head, [name]: '' }).slice(0, -'"}'.length);
  const close = `"${JSON.stringify({ '': 0, ...tail }).slice('{"":0'.length)}`;
  const pieces = [open, new EscapedText(text, jsonEscapes), close];
  return responseOf(pieces, 'application/json; charset=utf-8');
}

/** The characters that JSON.stringify escapes (ECMA-262, QuoteJSONString). */
const escaped = ['"', '\\', ...Array.from({ length: 32 }, (_, code) => String.fromCharCode(code))];
const jsonEscapes = escapesOf(
  Object.fromEntries(escaped.map((text) => [text, JSON.stringify(text).slice(1, -1)])),
);

export function refusalHead(refusal: ServiceRefusal): {
  status: number;
  headers: Record<string, string>;
} {
  const status = refusalStatuses[refusal.kind];
  const { retryAfter } = refusal.details;
  return {
    status,
    headers: {
      ...(retryAfter === undefined ? {} : { 'retry-after': `${retryAfter}` }),
      // RFC 9110, 15.5.2, requires this header.
      ...(refusal.kind === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}),
      // RFC 9110, 15.5.16, recommends this header.
      ...(refusal.kind === 'unsupported' ? { 'accept-encoding': 'identity' } : {}),
    },
  };
}

/** The JSON body of a refusal (docs/wire.md, "Errors"). */
function refusalBody(refusal: ServiceRefusal): unknown {
  const { kind, message, details } = refusal;
  const { fields = {}, keySalt, opensAt, scope, what = 'push' } = details;
  if (kind === 'invalid') return fields;
  if (kind === 'incomplete')
    return { error: LINK_INCOMPLETE, message, key_salt: keySalt, opens_at: opensAt };
  if (kind === 'identity') return { error: IDENTITY_NEEDED, message };
  if (isUndone(refusal)) return { error: message, done: false };
  if (kind !== 'passphrase') return { error: message, scope };
  return { error: `This ${what} requires a passphrase.`, message, status: 'unauthorized' };
}

export function refusalResponse(refusal: ServiceRefusal): Response {
  const { status, headers } = refusalHead(refusal);
  return json(refusalBody(refusal), status, headers);
}

export const everyRoute: readonly Pick<Route, 'method' | 'path'>[] = [
  ...Object.values(routes),
  ...Object.values(requestRoutes),
  exchangeRoute,
  { method: 'GET', path: OPENAPI_PATH },
];

/** Responds to a method that a path does not support (RFC 9110, 15.5.6). */
export function wrongMethod(path: string): Response {
  const methods = everyRoute.filter((route) => route.path === path).map(({ method }) => method);
  return json({ error: 'method-not-allowed' }, 405, { allow: methods.join(', ') });
}

export function flagsOf(row: PushRow, names: typeof pushFlags | typeof requestFlags) {
  return Object.fromEntries(names.map((name) => [name, row[name] === 1]));
}

export function fileUrl({ link }: OfferedFile, base: string): string {
  return `${base}/files/${link}`;
}

export function fileBody(file: OfferedFile, base: string) {
  return { filename: file.name, content_type: file.type, url: fileUrl(file, base) };
}

export function auditBody(rows: readonly AuditRow[]) {
  const logs = rows.map(({ user_agent, referrer, trust, subject, count, ...row }) => ({
    ip: row.ip,
    user_agent: user_agent ?? '',
    referrer: referrer ?? '',
    kind: row.kind,
    ...(trust === null ? {} : { trust, sub: subject }),
    ...(count === 1 ? {} : { count }),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at ?? row.created_at),
  }));
  return { logs };
}

export function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

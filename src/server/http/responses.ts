import type { Refusal, RefusalKind } from '../refusal';
import { EscapedText, escapesOf, LARGE, lengthOf, type Pieces, streamOf } from './escaped-text';

const statusOf = {
  malformed: 400,
  unauthorized: 401,
  passphrase: 401,
  forbidden: 403,
  not_found: 404,
  too_large: 413,
  invalid: 422,
  too_many: 429,
  // As in nginx; for the log only, as the client has gone.
  abandoned: 499,
  busy: 503,
  away: 503,
  full: 503,
} as const satisfies Record<RefusalKind, number>;

/** A response of known length, for the log and for HEAD. Large texts are escaped as they are sent. */
export function answer(
  body: string | Pieces,
  type: string,
  status = 200,
  headers: Record<string, string> = {},
): Response {
  const pieces = typeof body === 'string' ? [body] : body;
  const large = pieces.some((piece) => typeof piece !== 'string');
  return new Response(large ? streamOf(pieces) : pieces.join(''), {
    status,
    headers: { 'content-type': type, 'content-length': `${lengthOf(pieces)}`, ...headers },
  });
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return answer(JSON.stringify(body), 'application/json; charset=utf-8', status, headers);
}

/** An object in JSON: the fields of `head`, the text under `name`, which may be large, and the fields of `tail`. */
export function jsonWithText(
  head: object,
  name: string,
  text: string | null,
  tail: object,
): Response {
  if (text === null || text.length < LARGE) return json({ ...head, [name]: text, ...tail });
  const open = JSON.stringify({ ...head, [name]: '' }).slice(0, -'"}'.length);
  const close = `"${JSON.stringify({ '': 0, ...tail }).slice('{"":0'.length)}`;
  const pieces = [open, new EscapedText(text, jsonEscapes), close];
  return answer(pieces, 'application/json; charset=utf-8');
}

/** As JSON.stringify escapes them (ECMA-262, QuoteJSONString). */
const jsonEscapes = escapesOf(
  Object.fromEntries(
    [...Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)), '"', '\\'].map(
      (character) => [character, JSON.stringify(character).slice(1, -1)],
    ),
  ),
);

/** The status and headers of a refusal. */
export function refusalHead(refusal: Refusal): { status: number; headers: Record<string, string> } {
  const status = statusOf[refusal.kind];
  const { retryAfter } = refusal;
  return {
    status,
    headers: {
      ...(retryAfter === undefined ? {} : { 'retry-after': `${retryAfter}` }),
      // RFC 9110, 15.5.2.
      ...(refusal.kind === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}),
    },
  };
}

/** The JSON body of a refusal (docs/wire.md, "Errors"). */
export function refusalBody({ kind, message, fields }: Refusal): unknown {
  if (kind === 'invalid') return fields;
  if (kind !== 'passphrase') return { error: message };
  return { error: 'This push needs its passphrase.', message, status: 'unauthorized' };
}

import type { Refusal, RefusalKind } from './refusal';

const statusOf = {
  malformed: 400,
  unauthorized: 401,
  passphrase: 401,
  forbidden: 403,
  not_found: 404,
  too_large: 413,
  invalid: 422,
  too_many: 429,
  // Nobody's status but nginx's, for the log alone.
  abandoned: 499,
  busy: 503,
  away: 503,
} as const satisfies Record<RefusalKind, number>;

/** A response whose length is known, for the log and for HEAD. */
export function answer(
  body: string,
  type: string,
  status = 200,
  headers: Record<string, string> = {},
): Response {
  return new Response(body, {
    status,
    headers: { 'content-type': type, 'content-length': `${Buffer.byteLength(body)}`, ...headers },
  });
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return answer(JSON.stringify(body), 'application/json; charset=utf-8', status, headers);
}

/** The status and headers a refusal is answered with. */
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

/** The body of a refusal (docs/wire.md, "Errors", ours). */
export function refusalBody({ kind, message, fields }: Refusal): unknown {
  if (kind === 'invalid') return fields;
  if (kind !== 'passphrase') return { error: message };
  return { error: 'This push needs its passphrase.', message, status: 'unauthorized' };
}

import { createHash } from 'node:crypto';

/**
 * Returns the SHA-256 of an `Idempotency-Key` in base64url. The response of `/version` has it, so that a client sees
 * whether proxies pass the header on (docs/wire.md, "Requests that are done once"). It is not a key of any stored data.
 */
export function keyEcho(idempotencyKey: string): string {
  return createHash('sha256').update(idempotencyKey).digest('base64url');
}

import { createHash } from 'node:crypto';

/**
 * Returns the SHA-256 of an `Idempotency-Key` in base64url. `/version` returns it, so that a client sees that keys
 * arrive (docs/wire.md, "Requests that are done once"). The hash opens no stored data.
 */
export function keyEcho(idempotencyKey: string): string {
  return createHash('sha256').update(idempotencyKey).digest('base64url');
}

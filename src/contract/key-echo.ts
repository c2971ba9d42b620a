import { createHash } from 'node:crypto';

/**
 * SHA-256 of an `Idempotency-Key` in base64url. The version returns it, which shows a client that keys arrive
 * (docs/wire.md, "Requests that are done once"). The echo opens nothing.
 */
export function keyEcho(idempotencyKey: string): string {
  return createHash('sha256').update(idempotencyKey).digest('base64url');
}

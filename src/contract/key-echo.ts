import { createHash } from 'node:crypto';

/**
 * What the version says of the `Idempotency-Key` that it was asked with: SHA-256 of its text, in base64url. A client that
 * gets it knows that keys arrive (docs/wire.md, "Requests that are done once"). It opens nothing.
 */
export function keyEcho(idempotencyKey: string): string {
  return createHash('sha256').update(idempotencyKey).digest('base64url');
}

import { scalarMult, scalarMultBase } from '@stablelib/x25519';
import type { KeyPair } from '../../../age/format/platform';

/** @see X25519. In constant time, which @noble/curves is not; WebCrypto is missing over plain http. */
export function x25519(secret: Uint8Array): KeyPair {
  return {
    point: scalarMultBase(secret),
    shared(point) {
      const shared = scalarMult(secret, point);
      return shared.some((byte) => byte !== 0) ? shared : undefined;
    },
  };
}

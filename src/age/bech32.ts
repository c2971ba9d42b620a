// This module has no `Buffer`, since browsers run it, too.
import { bech32 } from '@scure/base';

/** Decodes Bech32 (BIP 173) of any length; undefined when the checksum or the padding is wrong. */
export function decodeBech32(text: string): { prefix: string; bytes: Uint8Array } | undefined {
  try {
    return bech32.decodeToBytes(text, false);
  } catch {
    return undefined;
  }
}

export function encodeBech32(prefix: string, bytes: Uint8Array): string {
  return bech32.encodeFromBytes(prefix, bytes);
}

/** Returns the point of an X25519 recipient in lower case; undefined for other text and for a point of low order. */
export function pointOf(recipient: string): Uint8Array | undefined {
  if (!/^age1[a-z0-9]{58}$/.test(recipient)) return;
  const decoded = decodeBech32(recipient);
  if (decoded?.prefix !== 'age' || decoded.bytes.length !== 32) return;
  return isLowOrder(decoded.bytes) ? undefined : decoded.bytes;
}

/** The points of low order in hex: 0, 1, two of order 8, and p - 1 to p + 1, where p = 2^255 - 19. */
const LOW_ORDER = [
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  ...['ec', 'ed', 'ee'].map((first) => `${first}${'ff'.repeat(30)}7f`),
];

/** Whether the secret shared with a point is always zero (RFC 7748, section 6.1). X25519 ignores the last bit. */
function isLowOrder(point: Uint8Array): boolean {
  const hex = Array.from(point, (byte, index) =>
    (index === 31 ? byte & 0x7f : byte).toString(16).padStart(2, '0'),
  );
  return LOW_ORDER.includes(hex.join(''));
}

// X25519 (RFC 7748, section 5) with BigInt, 1.2 KB: WebCrypto is missing over plain http, and @noble/curves takes 20 KB.
// Not in constant time, which a page cannot promise; each secret here is used once.

const P = 2n ** 255n - 19n;
const A24 = 121_665n;

const modulo = (value: bigint) => ((value % P) + P) % P;

function number(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = base, left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = modulo(result * square);
    square = modulo(square * square);
  }
  return result;
}

/** The result of a secret and a point, of 32 bytes each; all zero for a point of low order. */
export function x25519(secret: Uint8Array, point: Uint8Array): Uint8Array {
  const scalar = (number(secret) & (2n ** 254n - 8n)) | (1n << 254n);
  const x1 = modulo(number(point) & (2n ** 255n - 1n));
  let [x2, z2, x3, z3] = [1n, 0n, x1, 1n];
  for (let bit = 254n; bit >= 0n; bit--) {
    const swapped = ((scalar >> bit) & 1n) === 1n;
    if (swapped) [x2, z2, x3, z3] = [x3, z3, x2, z2];
    const [a, b, c, d] = [x2 + z2, x2 - z2, x3 + z3, x3 - z3];
    const [aa, bb, da, cb] = [modulo(a * a), modulo(b * b), modulo(d * a), modulo(c * b)];
    const e = aa - bb;
    x3 = modulo((da + cb) * (da + cb));
    z3 = modulo(x1 * modulo((da - cb) * (da - cb)));
    x2 = modulo(aa * bb);
    z2 = modulo(e * (aa + A24 * e));
    if (swapped) [x2, z2, x3, z3] = [x3, z3, x2, z2];
  }
  let result = modulo(x2 * power(z2, P - 2n));
  return Uint8Array.from({ length: 32 }, () => {
    const byte = Number(result & 255n);
    result >>= 8n;
    return byte;
  });
}

/** The public key of a secret. */
export function x25519Public(secret: Uint8Array): Uint8Array {
  return x25519(secret, Uint8Array.of(9, ...new Uint8Array(31)));
}

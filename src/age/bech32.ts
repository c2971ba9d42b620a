// Alone here and without Buffer: the service and its pages check recipients too.

const LETTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

/** Decodes Bech32 (BIP 173), without its limit of length; undefined when its checksum or its padding is wrong. */
export function decodeBech32(text: string): { prefix: string; bytes: Uint8Array } | undefined {
  const lower = text.toLowerCase();
  if (text !== lower && text !== text.toUpperCase()) return;
  const [, prefix = '', data = ''] = /^([!-~]+)1([a-z0-9]{6,})$/.exec(lower) ?? [];
  const values = [...data].map((letter) => LETTERS.indexOf(letter));
  if (values.includes(-1) || checksum([...expanded(prefix), ...values]) !== 1) return;
  const bytes = regrouped(values.slice(0, -6), 5, 8);
  return bytes && { prefix, bytes: Uint8Array.from(bytes) };
}

/** Encodes bytes as Bech32 (BIP 173), without its limit of length. */
export function encodeBech32(prefix: string, bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  const fives = bits.match(/.{1,5}/g) ?? [];
  const values = fives.map((five) => Number.parseInt(five.padEnd(5, '0'), 2));
  const sum = checksum([...expanded(prefix), ...values, 0, 0, 0, 0, 0, 0]) ^ 1;
  const check = [25, 20, 15, 10, 5, 0].map((shift) => (sum >>> shift) & 31);
  return `${prefix}1${[...values, ...check].map((value) => LETTERS[value]).join('')}`;
}

/** The point of an X25519 recipient, `age1…` in lower case; undefined for anything else, and for a point of low order. */
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

/** Whether the secret shared with that point is always zero (RFC 7748, section 6.1). Its last bit does not count. */
function isLowOrder(point: Uint8Array): boolean {
  const hex = Array.from(point, (byte, at) =>
    (at === 31 ? byte & 0x7f : byte).toString(16).padStart(2, '0'),
  );
  return LOW_ORDER.includes(hex.join(''));
}

/** Groups of bits in another size; undefined when the rest is a whole group or not zero. */
function regrouped(values: readonly number[], from: number, to: number): number[] | undefined {
  const groups: number[] = [];
  let bits = 0;
  let held = 0;
  for (const value of values) {
    held = (held << from) | value;
    bits += from;
    while (bits >= to) {
      bits -= to;
      groups.push(held >> bits);
      held &= (1 << bits) - 1;
    }
  }
  return bits < from && held === 0 ? groups : undefined;
}

function expanded(prefix: string): number[] {
  const codes = [...prefix].map((letter) => letter.charCodeAt(0));
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
}

function checksum(values: readonly number[]): number {
  let sum = 1;
  for (const value of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (const [bit, term] of GENERATOR.entries()) if ((top >> bit) & 1) sum ^= term;
  }
  return sum;
}

/** The cryptography and encodings of a platform: `node:crypto`, or JavaScript where a page has nothing else. */
export interface Primitives {
  chacha(key: Uint8Array): Chacha | Promise<Chacha>;
  /** HMAC-SHA-256 (RFC 2104). */
  hmac(key: Uint8Array, text: Uint8Array): Uint8Array;
  random(length: number): Bytes;
  /** Base64 with padding (RFC 4648, section 4). */
  toBase64(bytes: Uint8Array): string;
  /** The bytes of base64 with or without padding; undefined or any bytes when it is not valid. */
  fromBase64(text: string): Bytes | undefined;
  /** Lets the platform handle what happened meanwhile, such as signals. */
  pause(): Promise<unknown>;
}

export type Bytes = Uint8Array<ArrayBuffer>;

/** ChaCha20-Poly1305 (RFC 8439) with one key. */
export interface Chacha {
  /** Encrypts; the result is ciphertext and tag, in parts that are new buffers. */
  seal(nonce: Uint8Array, plain: Uint8Array): Bytes[] | Promise<Bytes[]>;
  /** Decrypts what `seal` returned, into parts; undefined if the key or the nonce differs, or the data was changed. */
  open(nonce: Uint8Array, sealed: Uint8Array): Bytes[] | undefined | Promise<Bytes[] | undefined>;
  /** Takes back the memory of what they returned, where that does not wait for the garbage collector. */
  free?(results: readonly Bytes[]): void;
}

/** Bytes that `seal` adds. */
export const TAG = 16;

/**
 * scrypt (RFC 7914) with r = 8 and p = 1: 32 bytes.
 * @param work the base-two logarithm of N
 */
export type Scrypt = (passphrase: string, salt: Uint8Array, work: number) => Promise<Uint8Array>;

/** The key pair of 32 secret bytes (RFC 7748, section 5). */
export type X25519 = (secret: Uint8Array) => KeyPair;

export interface KeyPair {
  readonly point: Uint8Array;
  /** The secret shared with a point; undefined for a point of low order, whose secret is always zero. */
  shared(point: Uint8Array): Uint8Array | undefined;
}

/** Derives 32 bytes with HKDF-SHA-256 (RFC 5869), of which that is one block. */
export function derive(
  { hmac }: Pick<Primitives, 'hmac'>,
  secret: Uint8Array,
  salt: Uint8Array,
  info: string,
): Uint8Array {
  return hmac(hmac(salt, secret), ascii(`${info}\x01`));
}

/** Base64 without padding (RFC 4648, section 4). */
export function unpadded({ toBase64 }: Primitives, bytes: Uint8Array): string {
  return toBase64(bytes).replace(/=+$/, '');
}

/** Decodes base64 without padding; undefined if the text is not canonical (RFC 4648, section 3.5). */
export function fromUnpadded(primitives: Primitives, text: string): Bytes | undefined {
  const bytes = primitives.fromBase64(text);
  return bytes && unpadded(primitives, bytes) === text ? bytes : undefined;
}

/** Bytes of characters up to U+00FF. A loop, as `Uint8Array.from` takes three times as long. */
export function ascii(text: string): Bytes {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** The other way round. */
export function textOf(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

export function joined(parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  put(parts, whole, 0);
  return whole;
}

/** Puts parts one after the other from a place on, and returns where they end. */
export function put(parts: readonly Uint8Array[], into: Uint8Array, at: number): number {
  return parts.reduce((from, part) => {
    into.set(part, from);
    return from + part.length;
  }, at);
}

/** In constant time; of the same length. */
export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.reduce((difference, byte, at) => difference | (byte ^ (other[at] ?? 0)), 0) === 0;
}

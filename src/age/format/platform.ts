/** Cryptography and encodings, implemented with `node:crypto`, or with JavaScript packages in the browser. */
export interface Primitives {
  chacha(key: Uint8Array): Chacha | Promise<Chacha>;
  /** HMAC-SHA-256 (RFC 2104). */
  hmac(key: Uint8Array, text: Uint8Array): Uint8Array;
  random(length: number): Bytes;
  toBase64(bytes: Uint8Array): string;
  /** Decodes base64 with or without padding. Returns undefined or arbitrary bytes for invalid text. */
  fromBase64(text: string): Bytes | undefined;
  /** Lets the event loop handle events, such as signals, between two slow steps. */
  pause(): Promise<unknown>;
}

export type Bytes = Uint8Array<ArrayBuffer>;

export interface Chacha {
  /** Returns ciphertext and tag in parts. Each part is a new buffer. */
  seal(nonce: Uint8Array, plain: Uint8Array): Bytes[] | Promise<Bytes[]>;
  /** Decrypts what `seal` returned; undefined if the key or the nonce differs, or the data was changed. */
  open(nonce: Uint8Array, sealed: Uint8Array): Bytes[] | undefined | Promise<Bytes[] | undefined>;
  /** Frees the memory of results, on platforms where this need not wait for the garbage collector. */
  free?(results: readonly Bytes[]): void;
}

/** The length of the tag that `seal` adds, in bytes. */
export const TAG = 16;

/**
 * Derives 32 bytes with scrypt (RFC 7914), r = 8 and p = 1.
 * @param work the base-two logarithm of N
 */
export type Scrypt = (passphrase: string, salt: Uint8Array, work: number) => Promise<Uint8Array>;

/** Makes the key pair of 32 secret bytes (RFC 7748, section 5). */
export type X25519 = (secret: Uint8Array) => KeyPair;

export interface KeyPair {
  readonly point: Uint8Array;
  /** Returns the secret shared with a point; undefined for a point of low order, whose secret is always zero. */
  shared(point: Uint8Array): Uint8Array | undefined;
}

/** Derives 32 bytes with HKDF-SHA-256 (RFC 5869). They are one block, so that its expansion is a single HMAC. */
export function derive(
  { hmac }: Pick<Primitives, 'hmac'>,
  secret: Uint8Array,
  salt: Uint8Array,
  info: string,
): Uint8Array {
  return hmac(hmac(salt, secret), ascii(`${info}\x01`));
}

/** Encodes bytes in base64 without padding (RFC 4648, section 4). */
export function unpadded({ toBase64 }: Primitives, bytes: Uint8Array): string {
  return toBase64(bytes).replace(/=+$/, '');
}

/** Returns undefined if the text is not canonical (RFC 4648, section 3.5). */
export function fromUnpadded(primitives: Primitives, text: string): Bytes | undefined {
  const bytes = primitives.fromBase64(text);
  return bytes && unpadded(primitives, bytes) === text ? bytes : undefined;
}

/** Encodes each character, up to U+00FF, as one byte. */
export function ascii(text: string): Bytes {
  const bytes = new Uint8Array(text.length);
  // `Uint8Array.from` takes three times as long.
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

/** Decodes each byte as one character, up to U+00FF. */
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

export function put(parts: readonly Uint8Array[], into: Uint8Array, offset: number): number {
  return parts.reduce((from, part) => {
    into.set(part, from);
    return from + part.length;
  }, offset);
}

/** Compares bytes of equal length in a time that does not depend on where they differ, against timing attacks. */
export function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.reduce((difference, byte, index) => difference | (byte ^ (b[index] ?? 0)), 0) === 0;
}

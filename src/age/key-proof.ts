import { ascii, type Bytes, derive, joined, type Primitives, type Scrypt } from './format/platform';
import { isLinkKey } from './link-key';

// A proof shows an instance that someone has the key of a push, but not the key (docs/encryption.md, "Proof of the
// key"). The sender sends `key_proof`. A reader derives a proof from it that is valid at one address only.

const PURPOSE = 'pwpush key proof v1';

/** The scrypt work factor for a key of words. It equals `MODERATE_WORK`, so that a proof is not easier to guess. */
const WORK = 16;

interface Prover {
  readonly primitives: Pick<Primitives, 'hmac' | 'toBase64' | 'fromBase64'>;
  readonly scrypt: Scrypt;
}

/**
 * Derives the `key_proof` of a link key, or of words with the salt of their push.
 * @returns undefined for words without a valid salt
 */
export async function keyProof(
  { primitives, scrypt }: Prover,
  key: string,
  salt: string | undefined,
): Promise<string | undefined> {
  if (isLinkKey(key)) return proofOf(primitives, ascii(key));
  const bytes = sixteenBytes(primitives, salt ?? '');
  if (!bytes) return undefined;
  return proofOf(primitives, await scrypt(key, joined([ascii(PURPOSE), bytes]), WORK));
}

/**
 * Computes a reader's proof: the first 16 bytes of HMAC-SHA-256 (RFC 2104) of the address, keyed with `key_proof`.
 * @param base the instance's address as the reader's link has it: origin and path, without a final slash
 */
export function proofAt(primitives: Prover['primitives'], keyProof: string, base: string): string {
  const key = sixteenBytes(primitives, keyProof) as Bytes;
  return base64url(primitives, primitives.hmac(key, ascii(base)).subarray(0, 16));
}

export function newKeySalt(primitives: Pick<Primitives, 'random' | 'toBase64'>): string {
  return base64url(primitives, primitives.random(16));
}

function proofOf(primitives: Prover['primitives'], secret: Uint8Array): string {
  return base64url(primitives, derive(primitives, secret, ascii(''), PURPOSE).subarray(0, 16));
}

/** Decodes a salt or a proof, which has the form of a link key; undefined for any other text. */
function sixteenBytes({ fromBase64 }: Prover['primitives'], text: string): Bytes | undefined {
  return isLinkKey(text) ? fromBase64(text.replaceAll('-', '+').replaceAll('_', '/')) : undefined;
}

function base64url({ toBase64 }: Pick<Primitives, 'toBase64'>, bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

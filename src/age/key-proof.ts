import { ascii, type Bytes, derive, joined, type Primitives, type Scrypt } from './format/platform';
import { isLinkKey } from './link-key';

/*
 * Shows an instance that someone has the key of a push, and nothing of the key (docs/encryption.md, "Proof of the key").
 */

const PURPOSE = 'pwpush key proof v1';

/** The scrypt work factor for words: that of their armor, so that the proof is not easier to guess from. */
const WORK = 16;

/** How a platform proves keys. */
interface Prover {
  readonly primitives: Pick<Primitives, 'hmac' | 'toBase64' | 'fromBase64'>;
  readonly scrypt: Scrypt;
}

/**
 * The proof of a link key, or of words with the salt of their push.
 * @returns undefined for words without a salt, and for a salt that is not one
 */
export async function keyProof(
  { primitives, scrypt }: Prover,
  key: string,
  salt: string | undefined,
): Promise<string | undefined> {
  if (isLinkKey(key)) return proofOf(primitives, ascii(key));
  const bytes = salt === undefined ? undefined : saltIn(primitives, salt);
  if (!bytes) return undefined;
  return proofOf(primitives, await scrypt(key, joined([ascii(PURPOSE), bytes]), WORK));
}

export function newKeySalt(primitives: Pick<Primitives, 'random' | 'toBase64'>): string {
  return base64url(primitives, primitives.random(16));
}

function proofOf(primitives: Prover['primitives'], secret: Uint8Array): string {
  return base64url(primitives, derive(primitives, secret, ascii(''), PURPOSE).subarray(0, 16));
}

/** A salt has the form of a link key: 16 bytes. */
function saltIn({ fromBase64 }: Prover['primitives'], salt: string): Bytes | undefined {
  return isLinkKey(salt) ? fromBase64(salt.replaceAll('-', '+').replaceAll('_', '/')) : undefined;
}

function base64url({ toBase64 }: Pick<Primitives, 'toBase64'>, bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

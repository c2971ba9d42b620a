import { AgeError } from '../age-error';
import { armorSize, decodeArmor, encodeArmor } from './armor';
import { encodeHeader, type Header, parseHeader, verifyHeader } from './header';
import { type Bytes, joined, type Primitives, unpadded } from './platform';
import { FILE_KEY, type Identity, type Recipient } from './stanzas';
import { decryptPayload, encryptPayload, payloadSize, readHeader } from './stream';

// Encrypts and decrypts age v1 files (https://c2sp.org/age) with the primitives of a platform.

export type PreparedFile = Awaited<ReturnType<typeof prepared>>;

/**
 * Makes a new file key and the header of an age file ("Encrypted file format").
 * @throws AgeError (key) for no recipients, too many, or a passphrase combined with other recipients
 */
export async function prepared(primitives: Primitives, recipients: readonly Recipient[]) {
  const fileKey = primitives.random(FILE_KEY);
  const stanzas = await Promise.all(recipients.map((recipient) => recipient.wrap(fileKey)));
  const header = encodeHeader(primitives, stanzas, fileKey);
  return {
    mac: unpadded(primitives, parseHeader(primitives, header).mac),
    sizeOf: (size: number) => header.length + payloadSize(size),
    /**
     * Encrypts a stream in constant memory. Each call takes a new nonce, since a repeated HTTP request encrypts the
     * file again. A piece of `plaintext` or of the result is valid until the next one is requested.
     */
    async *encrypt(plaintext: AsyncIterable<Uint8Array>): AsyncGenerator<Bytes, void, undefined> {
      yield header;
      yield* encryptPayload(primitives, fileKey, plaintext);
    },
  };
}

/**
 * Decrypts an age file in constant memory. It resolves after an identity matched and the header was verified. The
 * generator yields only verified chunks, each of which is valid until the next one is requested. The file is complete
 * when the generator ends. The caller must read the generator or call its `return`.
 * @param mac the MAC in the header of the expected file, as `PreparedFile` has it
 * @throws AgeError (header, mac) when the file is not an age file, not the expected one, or its header was changed;
 * (no-match) when no identity decrypts it; the generator throws AgeError (payload) for changed or truncated data
 */
export async function decrypted(
  primitives: Primitives,
  file: AsyncIterable<Uint8Array>,
  identities: readonly Identity[],
  mac?: string,
): Promise<AsyncGenerator<Bytes, void, undefined>> {
  const pieces = file[Symbol.asyncIterator]();
  try {
    const { header: bytes, nonce, chunks } = await readHeader(pieces);
    const header = parseHeader(primitives, bytes);
    if (mac !== undefined && mac !== unpadded(primitives, header.mac))
      throw new AgeError('mac', 'it is not the file that was sent');
    const fileKey = await unwrap(primitives, header, identities);
    verifyHeader(primitives, header, fileKey);
    return decryptPayload(primitives, fileKey, nonce, chunks);
  } catch (error) {
    await pieces.return?.();
    throw error;
  }
}

/**
 * The most stanzas with the same type and first argument that are tried. For SSH keys, the argument is a part of a
 * public hash: anyone who knows the key can make thousands of such stanzas, each of which may take milliseconds.
 */
const SAME = 20;

/** Unwraps the file key of the first stanza that fits an identity. It pauses before each try to handle signals. */
async function unwrap(
  { pause }: Primitives,
  { stanzas }: Header,
  identities: readonly Identity[],
): Promise<Uint8Array> {
  const seen = new Map<string, number>();
  for (const stanza of stanzas) {
    const kind = `${stanza.type} ${stanza.args[0]}`;
    const count = seen.get(kind) ?? 0;
    if (count === SAME) continue;
    seen.set(kind, count + 1);
    for (const identity of identities) {
      if (identity.type !== stanza.type) continue;
      await pause();
      const fileKey = await identity.unwrap(stanza);
      if (fileKey !== undefined) return fileKey;
    }
  }
  throw new AgeError('no-match', 'the key does not decrypt it');
}

export function armoredSize({ sizeOf }: Pick<PreparedFile, 'sizeOf'>, plaintext: number): number {
  return armorSize(sizeOf(plaintext));
}

export async function armored(
  primitives: Primitives,
  { encrypt }: PreparedFile,
  plaintext: Uint8Array,
): Promise<string> {
  return encodeArmor(primitives, await collected(encrypt(single(plaintext))));
}

/** @throws AgeError (armor, header, mac, no-match, payload) */
export async function opened(
  primitives: Primitives,
  armor: string,
  identities: readonly Identity[],
): Promise<Bytes> {
  const file = single(decodeArmor(primitives, armor));
  return collected(await decrypted(primitives, file, identities));
}

/**
 * Returns the scrypt work factor of armor that needs a passphrase; undefined if the armor needs an identity file.
 * @throws AgeError (armor, header)
 */
export async function workOf(primitives: Primitives, armor: string): Promise<number | undefined> {
  const { header } = await readHeader(single(decodeArmor(primitives, armor)));
  const [stanza] = parseHeader(primitives, header).stanzas;
  return stanza?.type === 'scrypt' ? Number(stanza.args[1]) : undefined;
}

async function* single(piece: Uint8Array) {
  yield piece;
}

async function collected(pieces: AsyncIterable<Uint8Array>): Promise<Bytes> {
  const copies: Uint8Array[] = [];
  for await (const piece of pieces) copies.push(new Uint8Array(piece));
  return joined(copies);
}

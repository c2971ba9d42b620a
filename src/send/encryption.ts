import {
  armoredSize,
  encryptPrepared,
  MODERATE_WORK,
  type PreparedFile,
  passphraseRecipient,
  prepareFile,
  type Recipient,
} from '../age/age';
import { AgeError, explaining } from '../age/age-error';
import { newLinkKey, newWords } from '../age/key';
import { keyProof, newKeySalt, proofAt } from '../age/key-proof';
import { encodeManifest, encryptedName, isManifest } from '../age/manifest';
import { node, scrypt } from '../age/node-primitives';
import { wordList } from '../age/words';
import { placeOf, textIn } from '../cli/source';
import type { Entry } from '../cli/terminal/output';
import type { Attachment } from '../client/form';
import { limits } from '../contract/api';
import { asCliError, phrase, usageError } from '../platform/errors';

/** The key goes into the link, or to the sender as words; recipients with public keys have their own. */
export type EncryptMode = 'link' | 'words' | 'keys';

export type SealPlan =
  | { readonly mode: 'link' }
  /** A new file gets the words; without it, they are shown on stderr. */
  | { readonly mode: 'words'; readonly wordsFile: string | undefined }
  /** `to` has public keys and the paths of files with more, of which `-` is standard input; `keys` those that were read. */
  | { readonly mode: 'keys'; readonly to: readonly string[]; readonly keys: readonly Recipient[] };

interface Content {
  readonly text: string | undefined;
  readonly files: readonly Attachment[] | undefined;
}

export interface SealedContent {
  readonly payload: string;
  readonly files: readonly Attachment[] | undefined;
  /** The link key or the words that open the content. */
  readonly key?: string;
  readonly proof?: Readonly<Record<'key_proof' | 'key_salt', string | undefined>>;
}

/** Base-two logarithms of the scrypt work factor: a link key has 128 bits; six words have 77 and need more work. */
const WORK = { link: 10, words: MODERATE_WORK };

/**
 * Encrypts the content of a push, or of an answer, with a key of its own or to public keys.
 * @throws CliError (usage) for what is too long
 */
export async function seal(plan: SealPlan, content: Content): Promise<SealedContent> {
  const { mode } = plan;
  if (mode === 'keys') return sealTo(plan.keys, content);
  const key = mode === 'words' ? newWords(await wordList()) : newLinkKey();
  const key_salt = mode === 'words' ? newKeySalt(node) : undefined;
  const [sealed, key_proof] = await Promise.all([
    sealTo([passphraseRecipient(key, WORK[mode])], content),
    keyProof({ primitives: node, scrypt }, key, key_salt),
  ]);
  return { ...sealed, key, proof: { key_proof, key_salt } };
}

export function proofFor(keyProof: string, base: string): string {
  return proofAt(node, keyProof, base);
}

async function sealTo(
  recipients: readonly Recipient[],
  { text, files }: Content,
): Promise<SealedContent> {
  const encrypted = files && (await sealFiles(files, recipients));
  const plaintext = encrypted
    ? encodeManifest({ message: text, files: encrypted.map(({ entry }) => entry) })
    : textToSeal(text);
  const prepared = await prepareFile(recipients);
  const bytes = Buffer.from(plaintext);
  checkSize(prepared, bytes.length, files !== undefined);
  const payload = await encryptPrepared(prepared, bytes);
  return { payload, files: encrypted?.map(({ file }) => file) };
}

function textToSeal(text = ''): string {
  if (!isManifest(text)) return text;
  throw usageError(
    'an encrypted text cannot begin like the manifest of encrypted files',
    phrase('attach'),
  );
}

/** The reference implementation has this limit for a text; other instances may have a lower one, and say so. */
function checkSize(prepared: PreparedFile, bytes: number, files: boolean): void {
  if (armoredSize(prepared, bytes) <= limits.textBytes) return;
  let most = limits.textBytes;
  while (armoredSize(prepared, most) > limits.textBytes) most -= 1;
  throw usageError(
    `the ${files ? 'message' : 'text'} is too long: encrypted, an instance takes up to ${most} bytes`,
    phrase('attach'),
  );
}

async function sealFiles(files: readonly Attachment[], recipients: readonly Recipient[]) {
  const sealed = [];
  for (const [index, { name, type, size, bytes }] of files.entries()) {
    const { mac, sizeOf, encrypt } = await prepareFile(recipients);
    const file: Attachment = {
      name: encryptedName(index),
      shownAs: name,
      type: 'application/octet-stream',
      size: sizeOf(size),
      bytes: () => encrypt(bytes()),
    };
    sealed.push({ file, entry: { name, type, size, mac } });
  }
  return sealed;
}

/**
 * Matches keys of all types, mistyped and private ones too: as the path of a file, a key would be quoted in an error.
 * The base64 of an SSH key begins with `AAAA`.
 */
const LIKE_A_KEY = /^\s*(?:age1|ssh-|AGE-(?:SECRET-KEY|PLUGIN)-|-----BEGIN )|\sAAAA/i;

/**
 * Reads public keys, and those in files, and checks that a file can be encrypted to all of them.
 * @throws CliError (usage) for a key that cannot be used
 */
export async function readRecipients(
  { mode, to }: Extract<SealPlan, { mode: 'keys' }>,
  { context, say }: Entry,
): Promise<SealPlan> {
  const { parseRecipient, parseRecipients } = await import('../age/key-files');
  const keys: Recipient[] = [];
  const leftOut: string[] = [];
  const advised = (error: unknown) => {
    throw asCliError(error).advising(phrase('key-or-file'));
  };
  for (const [index, typed] of to.entries()) {
    const isKey = LIKE_A_KEY.test(typed);
    const place = isKey ? `recipient ${index + 1}` : placeOf(typed);
    const text = isKey ? typed : await textIn(typed, context, 'public keys').catch(advised);
    const parse = () =>
      isKey
        ? [parseRecipient(text)]
        : parseRecipients(text, (why) => leftOut.push(`${place}, ${why}`));
    const hint = isKey ? phrase('key-or-file') : undefined;
    keys.push(...explaining(parse, ({ message }) => usageError(`${place}: ${message}`, hint)));
  }
  for (const line of leftOut) await say.warn(`left out of ${line}`);
  // Preparing a file refuses too many recipients.
  await prepareFile(keys).catch((error) => {
    throw error instanceof AgeError ? usageError(error.message) : error;
  });
  return { mode, to, keys };
}

import { isUtf8 } from 'node:buffer';
import {
  decryptStream,
  decryptText,
  type Identity,
  MODERATE_WORK,
  passphraseIdentity,
  passphraseWork,
} from '../age/age';
import { AgeError } from '../age/age-error';
import { decodeManifest, encryptedName, isManifest, type ManifestFile } from '../age/manifest';
import type { FileResponse } from '../client/file-link';
import { TransportError } from '../client/transport/network-errors';
import { attempt, CliError, failedError, phrase } from '../platform/errors';
import { unlessEnded } from '../platform/interrupts';
import type { Fact, Hint } from '../words/phrase';
import type { DecryptionKeys } from './decryption-keys';
import type { Retrieval } from './retrieval';
import { ASKED, askForKey, type CandidateKey, candidateKey, isWrongKey } from './typed-key';

/**
 * Decrypts a push whose payload is armor. The store saves the armor before the user is asked for the key, and before
 * scrypt takes much memory, as the run may end meanwhile.
 * @throws CliError (passphrase) without the right key; (failed) for a damaged push
 */
export async function decryptPush(retrieval: Retrieval, keys: DecryptionKeys): Promise<Retrieval> {
  const opened = await openArmor(retrieval, keys);
  await retrieval.store.release(retrieval.sealed);
  return opened;
}

async function openArmor(retrieval: Retrieval, keys: DecryptionKeys): Promise<Retrieval> {
  const { context, linkKey, store } = retrieval;
  const work = await checked(passphraseWork(retrieval.push.payload ?? ''));
  if (work === undefined) {
    if (linkKey !== undefined) throw exchanged(phrase('encrypted-to-another'));
    if (keys.identities.length === 0)
      throw noKey(phrase('encrypted-to-public-key'), phrase('give-identity'));
    return withContent(retrieval, keys);
  }
  const texts = [linkKey, keys.text].filter((key) => key !== undefined);
  if (texts.length > 0) {
    if (work > MODERATE_WORK) await store.hold(retrieval);
    const failure = await tryKeys(retrieval, keys, await Promise.all(texts.map(candidateKey)));
    if (!(failure instanceof CliError)) return failure;
    if (keys.text !== undefined || !context.canPrompt() || !isWrongKey(failure)) throw failure;
    await retrieval.say.note(failure);
  } else if (!context.canPrompt()) throw noLinkKey();
  else await retrieval.say.note(ASKED);
  await store.hold(retrieval);
  return askForKey(context, async (key) => (key ? tryKeys(retrieval, keys, [key]) : noLinkKey()));
}

/** @throws CliError (passphrase) without the private key; (failed) for a damaged answer */
export async function decryptAnswer(
  retrieval: Retrieval,
  keys: DecryptionKeys,
): Promise<Retrieval> {
  if (keys.identities.length === 0)
    throw noKey(phrase('private-key-not-here'), phrase('give-identity-elsewhere'));
  try {
    return await withContent(retrieval, keys);
  } catch (error) {
    if (!(error instanceof CliError) || retrieval.signal.aborted) throw error;
    if (error.code !== 'passphrase') throw error;
    throw error.with({
      facts: phrase('private-key-fails'),
      hints: phrase('ask-for-answer-again'),
    });
  }
}

async function tryKeys(
  retrieval: Retrieval,
  keys: DecryptionKeys,
  candidates: readonly CandidateKey[],
): Promise<Retrieval | CliError> {
  const passphrases = new Set(candidates.flatMap((key) => key.passphrases));
  const identities = [...passphrases].map(passphraseIdentity);
  const outcome = await attempt(() => withContent(retrieval, { ...keys, identities }));
  if (!(outcome instanceof CliError) || !isWrongKey(outcome)) return outcome;
  const complaint = candidates.findLast((key) => key.complaint !== '')?.complaint ?? '';
  return outcome.with({ facts: phrase('key-fails', complaint) });
}

/** The files of the push are decrypted while they are downloaded. */
async function withContent(
  retrieval: Retrieval,
  { identities }: Pick<DecryptionKeys, 'identities'>,
): Promise<Retrieval> {
  const { answer, push, fromFile, openFile, signal } = retrieval;
  const noun = answer ? 'answer' : 'push';
  const work = checked(decryptText(push.payload ?? '', identities), noun);
  // Scrypt may take seconds, and the run has only a moment to save the secret.
  const bytes = await unlessEnded(work, signal);
  if (!isUtf8(bytes))
    throw failedError(phrase('encrypted-no-text'), { hints: phrase('save-sealed') });
  const text = bytes.toString('utf8');
  if (!isManifest(text)) {
    // The instance may have added files that the sender did not send.
    if (!fromFile && (push.files ?? []).length > 0)
      throw exchanged(phrase('files-not-encrypted', noun));
    const files = fromFile ? [] : push.files;
    return { ...retrieval, push: { ...push, files, payload: text, encrypted: true } };
  }
  const { message, files } = contentOf(text, retrieval, noun);
  const entries = new Map(files.map(({ file, entry }) => [file.url, entry]));
  const listed = files.map(({ file, entry }) => ({
    ...file,
    filename: entry.name,
    content_type: entry.type,
  }));
  return {
    ...retrieval,
    push: { ...push, payload: message ?? '', files: listed, encrypted: true },
    openFile: async (url, resume) => {
      const entry = entries.get(url);
      if (entry === undefined) throw failedError(phrase('not-listed'));
      const body = decryptedBody(await openFile(url, resume), entry, identities, signal);
      return { length: entry.size, body };
    },
  };
}

function contentOf(text: string, { push: { files }, fromFile }: Retrieval, noun: string) {
  const manifest = decodeManifest(text);
  if (typeof manifest === 'string')
    throw failedError(phrase('cannot-open', noun, manifest), { hints: phrase('use-newer') });
  const received = fromFile ? files?.slice(0, manifest.files.length) : files;
  const listed = manifest.files.map((entry, index) => {
    const file = received?.find(({ filename }) => filename === encryptedName(index));
    return file && { file, entry };
  });
  const matched = listed.filter((match) => match !== undefined);
  const others = (received?.length ?? 0) - matched.length;
  if (matched.length === listed.length && others === 0) {
    // `openFile` finds the entry of a file by its address.
    if (new Set(matched.map(({ file }) => file.url)).size < matched.length)
      throw exchanged(phrase('same-address', noun));
    return { message: manifest.message, files: matched };
  }
  throw failedError(phrase('files-differ', listed.length - matched.length, others), {
    hints: phrase(fromFile ? 'do-without-files' : 'ask-about-files'),
  });
}

async function* decryptedBody(
  response: FileResponse,
  { size, mac }: ManifestFile,
  identities: readonly Identity[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let received = 0;
  try {
    const opened = decryptStream(whole(response), identities, mac);
    for await (const chunk of await unlessEnded(opened, signal)) {
      received += chunk.length;
      if (received > size) break;
      yield chunk;
    }
  } catch (error) {
    if (!(error instanceof AgeError)) throw error;
    throw failedError(phrase('cannot-decrypt', error.message));
  }
  if (received !== size) throw failedError(phrase('size-differs'));
}

/** Fails like a broken connection if less arrives than was announced, so that the download is tried again. */
async function* whole({ body, length }: FileResponse): AsyncGenerator<Uint8Array> {
  let received = 0;
  for await (const chunk of body) {
    received += chunk.byteLength;
    yield chunk;
  }
  if (length !== undefined && received < length)
    throw new TransportError(phrase('cut-short'), { sent: true });
}

async function checked<T>(work: Promise<T>, noun: 'push' | 'answer' = 'push'): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof AgeError)) throw error;
    if (error.reason === 'no-match') throw noKey(phrase('key-fails', ''), phrase('compare-key'));
    throw failedError(phrase('encrypted-damaged', noun, error.message), {
      hints: phrase('ask-for-undamaged'),
    });
  }
}

function exchanged(what: Fact): CliError {
  return failedError(phrase('detailed', what, phrase('may-be-replaced')), {
    hints: phrase('accept-as-sent'),
  });
}

function noLinkKey(): CliError {
  return noKey(phrase('link-without-key'), phrase('ask-for-link'));
}

function noKey(fact: Fact, hints: Hint): CliError {
  return new CliError('passphrase', fact, { hints });
}

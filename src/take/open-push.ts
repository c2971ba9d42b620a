import { isArmored } from '../age/sealed-with';
import { failedError, phrase } from '../platform/errors';
import type { DecryptionKeys } from './decryption-keys';
import type { Retrieval } from './retrieval';

/**
 * Decrypts a push, or the answer to a request; asks for a key that is missing. The user decides what is encrypted,
 * never the instance: where a key was given, a push in clear text is refused.
 * @throws CliError (passphrase) without the right key; (failed) for a damaged push, and for one that is not encrypted
 * though there is a key for it
 */
export async function openPush(sealed: Retrieval, initialKeys: DecryptionKeys): Promise<Retrieval> {
  const { push, answer, typedKey } = sealed;
  const keys =
    typedKey === undefined ? initialKeys : { ...initialKeys, text: typedKey, origin: TYPED };
  const retrieval = { ...sealed, push: { ...push, encrypted: false } };
  if (!keys.decrypt) return retrieval;
  if (!isArmored(push.payload ?? '')) return inClear(retrieval, keys);
  const { decryptAnswer, decryptPush } = await import('./decrypt');
  if (!answer) return decryptPush(retrieval, keys);
  const identities = [...(answer.key?.identities ?? []), ...keys.identities];
  return decryptAnswer(retrieval, { ...keys, identities });
}

const TYPED = 'a key was typed';

/** @throws CliError (failed) if a key was given */
async function inClear(retrieval: Retrieval, keys: DecryptionKeys): Promise<Retrieval> {
  const { answer, linkKey } = retrieval;
  const inLink = linkKey !== undefined || answer?.publicKey !== undefined;
  const giver = inLink ? 'the link has a key' : keys.origin;
  if (answer) {
    const plain = phrase('answer-not-encrypted');
    if (giver !== undefined || (answer.key && keys.strict))
      throw failedError(plain, { hints: phrase('accept-as-sent-next') });
    if (answer.key) await retrieval.say.warn(plain);
  } else if (giver !== undefined)
    throw failedError(phrase('push-not-encrypted', giver), { hints: phrase('accept-as-sent') });
  return retrieval;
}

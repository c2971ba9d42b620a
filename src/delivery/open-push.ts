import { isArmored } from '../age/armored';
import { isLinkKey } from '../age/link-key';
import { failedError } from '../errors';
import type { PushKeys } from '../input/decryption-keys';
import type { RetrievedPush } from './retrieve';

/**
 * Decrypts a push if it is encrypted; asks for the key if it is missing. Warns of one that is not encrypted though there
 * may be a key for it.
 * @param rescued is called with the rescue file of armor that was saved before asking, or could not be opened
 * @throws CliError (passphrase) without the right key; (failed) for a damaged push, and for one that is not encrypted
 * though its link or an option has a key, or there is one for the answer and `strict` is set. Nothing else is saved then
 */
export async function openPush(
  retrieved: RetrievedPush,
  keys: PushKeys,
  rescued: (path: string) => void,
): Promise<RetrievedPush> {
  if (!keys.decrypt) return retrieved;
  if (retrieved.answer) return openAnswer(retrieved, retrieved.answer, keys);
  if (isArmored(retrieved.push.payload ?? ''))
    return (await import('./decrypt')).decryptPush(retrieved, keys, rescued);
  const { linkKey, text, required } = keys;
  const whole = isLinkKey(linkKey ?? '');
  const not = 'but the push is not encrypted: it may have been replaced';
  if (whole || required)
    throw failedError(`${whole ? 'the link has a key' : 'a key was given'}, ${not}`, {
      hint: 'ask the sender; --no-decrypt accepts it as it is',
    });
  if (linkKey !== undefined) await retrieved.say.warn(`the link has a damaged key, ${not}`);
  else if (text !== undefined) await retrieved.say.warn(`PWPUSH_KEY is set, ${not}`);
  return retrieved;
}

/** Decrypts the answer to a request with the key that was kept for it, or a given one. */
async function openAnswer(
  retrieved: RetrievedPush,
  { key, publicKey }: NonNullable<RetrievedPush['answer']>,
  keys: PushKeys,
): Promise<RetrievedPush> {
  if (!isArmored(retrieved.push.payload ?? '')) {
    if (!key && !publicKey && keys.identities.length === 0) return retrieved;
    const plain = 'the answer is not encrypted: the instance could read it, or may have written it';
    if (keys.strict)
      throw failedError(plain, {
        hint: 'to accept such an answer the next time, use --no-decrypt',
      });
    await retrieved.say.warn(plain);
    return retrieved;
  }
  const identities = [...(key?.identities ?? []), ...keys.identities];
  const { decryptAnswer } = await import('./decrypt');
  return decryptAnswer(retrieved, { ...keys, linkKey: undefined, identities });
}

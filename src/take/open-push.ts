import { armorIn } from '../age/armor-in';
import { isArmored } from '../age/sealed-with';
import { isGuarded } from '../cli/agent';
import { parseReference } from '../client/link';
import { CliError, failedError, phrase, tried } from '../platform/errors';
import { isCi } from '../platform/surroundings';
import { readReceipts } from '../profile/receipts';
import type { DecryptionKeys } from './decryption-keys';
import type { Retrieval } from './retrieval';

/**
 * Decrypts a push, or the answer to a request; asks for a key that is missing. The user decides what is encrypted,
 * never the instance: where a key was given, a push in clear text is refused.
 * @throws CliError (passphrase) without the right key; (failed) for a damaged push, and for one that is not encrypted
 * though there is a key for it
 */
export async function openPush(sealed: Retrieval, initialKeys: DecryptionKeys): Promise<Retrieval> {
  const { push, answer, fromFile = false, typedKey } = sealed;
  const keys =
    typedKey === undefined ? initialKeys : { ...initialKeys, text: typedKey, origin: TYPED };
  const retrieval = { ...sealed, push: { ...push, encrypted: false } };
  if (!keys.decrypt) return retrieval;
  const payload = push.payload ?? '';
  const giver = keyGiver(sealed, keys);
  const isExpected = isArmored(payload) || fromFile || giver !== undefined || answer?.key;
  // A text in clear may have armor in it, too, such as a file of settings.
  const found = isExpected ? armorIn(payload) : undefined;
  if (!found) return inClear(retrieval, keys, giver);
  if (!found.isAlone) await sealed.say.warn(phrase('text-around'));
  const armored = { ...retrieval, push: { ...retrieval.push, payload: found.armor } };
  const { decryptAnswer, decryptPush } = await import('./decrypt');
  if (!answer) return decryptPush(armored, keys);
  const identities = [...(answer.key?.identities ?? []), ...keys.identities];
  return decryptAnswer(armored, { ...keys, identities });
}

/** Says in messages where a key comes from; undefined if none was given. */
function keyGiver({ answer, linkKey }: Retrieval, keys: DecryptionKeys): string | undefined {
  const inLink = linkKey !== undefined || answer?.publicKey !== undefined;
  return inLink ? 'the link has a key' : keys.origin;
}

const TYPED = 'a key was typed';

/** @throws CliError (failed) if a key was given, or is known to be needed and no person reads a warning */
async function inClear(
  retrieval: Retrieval,
  keys: DecryptionKeys,
  giver: string | undefined,
): Promise<Retrieval> {
  const { answer, context, say } = retrieval;
  const expected = giver ?? (answer ? answer.key && 'a key was kept' : inReceipt(retrieval));
  if (expected === undefined) return retrieval;
  const fact = answer ? phrase('answer-not-encrypted') : phrase('push-not-encrypted', expected);
  const { env, stderr } = context;
  const isWatched = stderr.isTTY && !isCi(env) && !(await isGuarded(context));
  if (giver !== undefined || (keys.inClear ?? (isWatched ? 'warn' : 'refuse')) === 'refuse')
    throw failedError(fact, { hints: phrase(answer ? 'accept-as-sent-next' : 'accept-as-sent') });
  await say.warn(fact);
  return retrieval;
}

/** Returns what says so if the receipt of a push has it as encrypted. */
function inReceipt({ context, fromFile, link }: Retrieval): string | undefined {
  if (fromFile) return undefined;
  const { base = '', token } = parseReference(link);
  const receipt = tried(() => readReceipts(context).find({ token, target: { base } }));
  const isEncrypted = !(receipt instanceof CliError) && receipt?.encrypted === true;
  return isEncrypted ? 'it was encrypted when it was pushed' : undefined;
}

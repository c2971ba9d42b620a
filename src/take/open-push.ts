import { isArmored } from '../age/armored';
import type { KnownPassphrase } from '../cli/passphrase';
import { asCliError, endedBy, failedError } from '../platform/errors';
import type { DecryptionKeys, PushKeys } from './decryption-keys';
import { retrieveFrom } from './retrieve';
import type { Retrievable } from './take-answer';
import { type SafeRun, type Taking, withPush } from './taking';

/**
 * Decrypts a push, or the answer to a request. The user decides what is encrypted, never the instance: where a
 * key was given, nothing is taken that was not encrypted. Asks for the key of an encrypted push if it is missing.
 * Armor that cannot be opened is held in the safe.
 * @throws CliError (passphrase) without the right key; (failed) for a damaged push, and for one that is not encrypted though
 * there is a key for it. Nothing else is saved then
 * @returns its push says whether it was decrypted, as `encrypted`
 */
export async function openPush(sealed: Taking, given: PushKeys): Promise<Taking> {
  const { push, answer, typedKey } = sealed.taken;
  const keys = typedKey === undefined ? given : { ...given, text: typedKey, givenBy: TYPED };
  const taking = withPush(sealed, { ...push, encrypted: false });
  if (!keys.decrypt) return taking;
  if (!isArmored(push.payload ?? '')) return inClear(taking, keys);
  const { decryptAnswer, decryptPush } = await import('./decrypt');
  if (!answer) return decryptPush(taking, keys);
  const identities = [...(answer.key?.identities ?? []), ...keys.identities];
  return decryptAnswer(taking, { ...keys, linkKey: undefined, identities });
}

const TYPED = 'a key was typed';

/** @throws CliError (failed) if a key was given */
async function inClear(taking: Taking, keys: PushKeys): Promise<Taking> {
  const { answer } = taking.taken;
  const inLink = keys.linkKey !== undefined || answer?.publicKey !== undefined;
  const giver = inLink ? 'the link' : keys.givenBy;
  if (answer) {
    const plain = 'the answer is not encrypted: the instance could read it, or may have written it';
    if (giver !== undefined || (answer.key && keys.strict))
      throw failedError(plain, {
        hint: 'to accept such an answer the next time, use --no-decrypt',
      });
    if (answer.key) await taking.say.warn(plain);
  } else if (giver !== undefined)
    throw failedError(
      `${giver}${giver === TYPED ? '' : ' has a key'}, but the push is not encrypted: it may have been replaced`,
      { hint: 'ask the sender; --no-decrypt accepts it as it is' },
    );
  return taking;
}

/**
 * Retrieves and decrypts pushes one after the other, each of which uses a view.
 * @throws CliError of the one that failed, which says where those before it were saved
 */
export async function retrieveAll(
  run: SafeRun,
  references: readonly Retrievable[],
  passphrase: KnownPassphrase,
  keys: DecryptionKeys,
): Promise<Taking[]> {
  const { context, safe } = run;
  const pushes: Taking[] = [];
  for (const [at, named] of references.entries()) {
    try {
      const sealed = await retrieveFrom(run, named, passphrase, keys);
      pushes[at] = sealed;
      pushes[at] = await openPush(sealed, { ...keys, linkKey: named.key, strict: true });
    } catch (error) {
      if (pushes.length === 0) throw error;
      const failed = asCliError(error);
      const { remains } = failed;
      const ended = context.signal.aborted ? endedBy(context.signal) : failed;
      const why =
        context.signal.aborted && !remains ? ended.message : `link ${at + 1}: ${failed.message}`;
      const failure = failed.with({
        code: ended.code,
        message: `${why}; nothing was started`,
        ...(ended === failed || remains ? {} : { hint: undefined }),
      });
      await safe.keep({ what: 'pushes', takings: pushes, links: references.length });
      throw safe.explain(failure);
    }
  }
  return pushes;
}

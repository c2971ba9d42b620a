import type { KnownPassphrase } from '../cli/passphrase';
import { rescuePushes } from '../deliver/download';
import { describe } from '../keep/kept';
import { asCliError, endedBy, phrase } from '../platform/errors';
import type { DecryptionKeys } from '../take/decryption-keys';
import { openPush } from '../take/open-push';
import type { Retrievable, Retrieval, Retriever } from '../take/retrieval';
import { keyOfAnswer, retrieveFrom } from '../take/retrieve';

/**
 * Retrieves and decrypts pushes one after the other, each of which uses a view, unless a link shows that one cannot be opened.
 * @throws CliError of the one that failed, which says where those before it were saved
 */
export async function retrieveAll(
  run: Retriever,
  references: readonly Retrievable[],
  passphrase: KnownPassphrase,
  keys: DecryptionKeys,
): Promise<Retrieval[]> {
  const { context } = run;
  for (const named of references)
    if (named.publicKey !== undefined) await keyOfAnswer(context, named, keys);
  const pushes: Retrieval[] = [];
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
      const failure =
        ended === failed || remains
          ? failed.with({ code: ended.code, subject: `link ${at + 1}` })
          : failed.with({ code: ended.code, facts: ended.facts, steps: [] });
      const kept = await rescuePushes(pushes, references.length);
      throw describe(failure.and(phrase('nothing-started')), ...kept);
    }
  }
  return pushes;
}

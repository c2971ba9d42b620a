import type { KnownPassphrase } from '../cli/passphrase';
import { keepPushes } from '../deliver/lost';
import { asCliError, endedBy, phrase } from '../platform/errors';
import type { DecryptionKeys } from '../take/decryption-keys';
import { openPush } from '../take/open-push';
import { keyOfAnswer, retrieveFrom } from '../take/retrieve';
import type { Retrievable, SafeRun, Taking } from '../take/taking';

/**
 * Retrieves and decrypts pushes one after the other, each of which uses a view, unless a link shows that one cannot be opened.
 * @throws CliError of the one that failed, which says where those before it were saved
 */
export async function retrieveAll(
  run: SafeRun,
  references: readonly Retrievable[],
  passphrase: KnownPassphrase,
  keys: DecryptionKeys,
): Promise<Taking[]> {
  const { context, safe } = run;
  for (const named of references)
    if (named.publicKey !== undefined) await keyOfAnswer(context, named, keys);
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
      const failure =
        ended === failed || remains
          ? failed.with({ code: ended.code, subject: `link ${at + 1}` })
          : failed.with({ code: ended.code, facts: ended.facts, steps: [] });
      await keepPushes(safe, pushes, references.length);
      throw safe.explain(failure.and(phrase('nothing-started')));
    }
  }
  return pushes;
}

import type { KnownPassphrase } from '../../cli/passphrase';
import { asCliError, endedBy } from '../../platform/errors';
import type { DecryptionKeys } from '../decryption-keys';
import { openPush } from '../open-push';
import { retrieveFrom } from '../retrieve';
import type { Retrievable } from '../take-answer';
import type { SafeRun, Taking } from '../taking';

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

import type { KnownPassphrase } from '../../cli/passphrase';
import type { Invocation } from '../../cli/terminal/output';
import { asCliError, endedBy } from '../../platform/errors';
import type { DecryptionKeys } from '../decryption-keys';
import { openPush } from '../open-push';
import { rescueAll } from '../rescue-all';
import { type RetrievedPush, retrieveFrom } from '../retrieve';
import type { Retrievable } from '../take-answer';

/**
 * Retrieves and decrypts pushes one after the other, each of which uses a view.
 * @throws CliError of the one that failed, which says where those before it were saved
 */
export async function retrieveAll(
  run: Invocation,
  references: readonly Retrievable[],
  passphrase: KnownPassphrase,
  keys: DecryptionKeys,
): Promise<RetrievedPush[]> {
  const { context } = run;
  const pushes: RetrievedPush[] = [];
  for (const [at, named] of references.entries()) {
    try {
      const sealed = await retrieveFrom(run, named, passphrase, keys);
      pushes[at] = sealed;
      const given = { ...keys, linkKey: named.key, strict: true };
      const opened = await openPush(sealed, given, (rescued) => {
        pushes[at] = { ...sealed, rescued };
      });
      pushes[at] = { ...opened, received: sealed.push };
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
      throw await rescueAll(pushes, failure, references.length);
    }
  }
  return pushes;
}

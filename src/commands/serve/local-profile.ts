import type { Context } from '../../context';
import { CliError } from '../../errors';
import { keepLocal } from '../../profile/local';

/** Keeps the service as a profile, so that `pwpush push` works in the next terminal. */
export async function keepProfile(
  context: Context,
  profile: { readonly url: string; readonly token: string },
  note: (text: string) => Promise<void>,
  warn: (text: string) => void,
): Promise<void> {
  try {
    const store = await context.profiles();
    let name = '';
    const { current } = await store.update((stored) => {
      const kept = keepLocal(stored, profile);
      name = kept.name;
      return kept.stored;
    });
    await note(
      `kept as profile "${name}"${current === name ? '' : `; use it with --profile ${name}`}`,
    );
  } catch (error) {
    const why = error instanceof CliError ? error.message : (error as NodeJS.ErrnoException).code;
    warn(`the token was not kept as a profile: ${why}`);
  }
}

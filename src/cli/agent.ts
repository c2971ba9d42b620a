import type { Context } from '../platform/context';
import { phrase, usageError } from '../platform/errors';
import type { HintName } from '../words/hints';

type Guarded = Pick<Context, 'guard'>;

export async function isGuarded(context: Guarded): Promise<boolean> {
  return (await context.guard?.()) !== undefined;
}

/**
 * Refuses to print a secret that an agent would read. Call it before anything is made, asked or used up.
 * @param what names the secret in messages
 * @param instead hint at a way that does not print the secret
 * @throws CliError (usage)
 */
export async function refuseToPrint(
  context: Guarded,
  what: string,
  instead: HintName,
): Promise<void> {
  const why = await context.guard?.();
  if (why !== undefined) throw usageError(`${what} is not printed: ${why}`, phrase(instead));
}

/**
 * Refuses to generate a secret that would be printed where an agent reads it: in JSON, or in a note, which only a
 * terminal gets.
 * @throws CliError (usage)
 */
export async function refuseGenerated(
  context: Guarded & Pick<Context, 'stderr'>,
  { json, quiet }: { readonly json: boolean; readonly quiet: boolean },
): Promise<void> {
  if (json || (!quiet && context.stderr.isTTY))
    await refuseToPrint(context, 'the generated secret', json ? 'quiet-for-json' : 'quiet-too');
}

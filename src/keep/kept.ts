import { type CliError, phrase, savedTo } from '../platform/errors';
import type { Fact, Hint } from '../words/phrase';

export type KeptPart =
  | 'encrypted text'
  | 'files'
  | 'key'
  | 'link'
  | 'new value'
  | 'response'
  | 'secret'
  | 'text';

export type Kept = { readonly part: KeptPart } & (
  | { readonly outcome: 'saved'; readonly path: string }
  | { readonly outcome: 'printed'; readonly to: string; readonly why: CliError }
  | { readonly outcome: 'lost'; readonly why: CliError }
  | { readonly outcome: 'available'; readonly fact: Fact }
);

/** Adds to a failure what became of the parts of each secret that could not be delivered. */
export function describe(failure: CliError, ...secrets: readonly (readonly Kept[])[]): CliError {
  const texts = secrets.map((parts) => parts.filter(({ part }) => part !== 'key'));
  const all = texts.flat();
  const ending = <O extends Kept['outcome']>(outcome: O) =>
    all.filter((kept): kept is Extract<Kept, { outcome: O }> => kept.outcome === outcome);
  const lost = ending('lost');
  const paths = ending('saved').map(({ path }) => path);
  const [first, second] = texts.flatMap(
    (parts) => parts.find(({ outcome }) => outcome !== 'available') ?? [],
  );
  const noun = second ? 'secrets' : nounOf(first);
  const why = lost.flatMap(({ why: { facts } }) => facts);
  const isWhole = all.length === 1 && first?.part !== 'files';
  const remaining = [failure, ...lost.map(({ why }) => why)];
  return failure.with({
    facts: [
      ...failure.facts,
      ...(paths.length > 0 ? [phrase('kept-saved', noun, ...paths)] : []),
      ...ending('available').map(({ fact }) => fact),
      ...ending('printed').map(({ part, to, why: { facts } }) =>
        phrase('kept-printed', nounOf({ part }), to, ...facts),
      ),
      ...(lost.length === 0
        ? []
        : [isWhole ? phrase('kept-lost', noun, ...why) : phrase('kept-in-part', ...why)]),
    ],
    // Only the first command is printed, and the one that finishes a download matters most.
    hints: [
      ...secrets.flat().flatMap(keyHint),
      ...failure.hints,
      ...lost.flatMap(({ why }) => why.hints),
      ...nextHints(failure, all, paths),
    ],
    remains: {
      ...failure.remains,
      ...savedTo([...paths, ...remaining.flatMap(({ remains }) => remains?.saved_to ?? [])]),
    },
  });
}

/** Files of a push are part of the secret. */
const nounOf = (kept: Pick<Kept, 'part'> | undefined) =>
  kept === undefined || kept.part === 'files' ? 'secret' : kept.part;

function nextHints({ code }: CliError, all: readonly Kept[], paths: readonly string[]): Hint[] {
  const sealed = all.find(({ part }) => part === 'encrypted text');
  // A text that is damaged or was exchanged does not open.
  if (sealed?.outcome === 'saved' && code !== 'failed') return [phrase('open-saved', sealed.path)];
  return paths.length === 0 ? [] : [phrase('delete-saved', ...paths)];
}

/** Names the file of the private key that may open what was saved. */
function keyHint(kept: Kept): Hint[] {
  if (kept.part !== 'key' || kept.outcome === 'available') return [];
  if (kept.outcome === 'saved') return [phrase('try-saved-key', kept.path)];
  return [phrase('know-of-key', kept.outcome === 'printed' ? kept.to : '', ...kept.why.facts)];
}

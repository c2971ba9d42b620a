import { AgeError } from '../age/age-error';
import { parseKey } from '../age/key';
import { keyProof, proofAt } from '../age/key-proof';
import { formsOf, isLinkKey } from '../age/link-key';
import { node, scrypt } from '../age/node-primitives';
import { wordList } from '../age/words';
import { askUntil } from '../cli/ask-until';
import type { Context } from '../platform/context';
import { CliError } from '../platform/errors';

export interface CandidateKey {
  /**
   * The link key or words that were found in the text, and the text itself: another program may have encrypted with any
   * passphrase.
   */
  readonly passphrases: readonly string[];
  /** Says why the text is no key, in parentheses; empty if it is one. */
  readonly complaint: string;
}

export async function candidateKey(text: string): Promise<CandidateKey> {
  if (isLinkKey(text)) return { passphrases: [text], complaint: '' };
  try {
    return { passphrases: [parseKey(text, await wordList()), ...formsOf(text)], complaint: '' };
  } catch (error) {
    if (!(error instanceof AgeError)) throw error;
    return { passphrases: formsOf(text), complaint: ` (${error.message})` };
  }
}

/** Returns undefined for words without `salt`, which stretches them. */
export async function proofOf(
  key: string,
  salt: string | undefined,
  base: string,
): Promise<string | undefined> {
  const secret = await keyProof({ primitives: node, scrypt }, key, salt);
  return secret && proofAt(node, secret, base);
}

export const ASKED = 'this push is encrypted: enter the part of the link after #, or the key words';

/**
 * Asks for a key, and up to twice again after a wrong one.
 * @param open receives undefined if nothing was typed
 */
export async function askForKey<T>(
  context: Context,
  open: (key: CandidateKey | undefined, typed: string) => Promise<T | CliError>,
  isWrong: (failure: CliError) => boolean = isWrongKey,
): Promise<T> {
  const prompter = await context.prompter();
  let question = 'Key or words:';
  return askUntil(
    async () => {
      const typed = (await prompter.secret(question)).trim();
      const key = typed === '' ? undefined : await candidateKey(typed);
      question = `Wrong key${key?.complaint ?? ''}, try again:`;
      const outcome = await open(key, typed);
      if (outcome instanceof CliError) throw outcome;
      return outcome;
    },
    (failure) => failure instanceof CliError && isWrong(failure),
  );
}

export const isWrongKey = ({ code }: CliError) => code === 'passphrase';

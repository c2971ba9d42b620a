import { wordList } from '../age/words';
import type { Context, Prompter } from '../platform/context';
import { usageError } from '../platform/errors';
import { readVariable } from '../platform/files/read-variable';
import { isCi } from '../platform/surroundings';
import { refuseToPrint } from './agent';
import { askUntil, beforeSending, filledIn } from './ask-until';
import type { Values } from './declare';
import type { newPassphraseRows } from './options';
import { secretIn } from './source';

/** Without `ask` and `file`, the passphrase comes from `PWPUSH_PASSPHRASE`. */
export interface PassphraseSource {
  readonly ask: boolean;
  readonly file: string | undefined;
  /** The instance that `PWPUSH_PASSPHRASE` is for, if the passphrase would go to another one. */
  readonly owner?: string | undefined;
}

export interface NewPassphraseSource extends PassphraseSource {
  /** A new file for a generated passphrase; a dash is standard error. */
  readonly generateInto: string | undefined;
}

export type NewPassphrase =
  | { readonly text: string | undefined }
  | { readonly generateInto: string };

const passphraseIn = ({ env }: Context) => readVariable(env, 'PWPUSH_PASSPHRASE');

/** @throws CliError (usage) for `-p` without a terminal */
export function passphraseSource(
  options: Partial<Values<ReturnType<typeof newPassphraseRows>>>,
  context: Context,
): NewPassphraseSource {
  const { passphrase = false, passphraseFile: file, passphraseOut } = options;
  if (passphrase && !context.canPrompt() && !passphraseIn(context))
    throw usageError(
      '-p asks for the passphrase, but there is no terminal to ask on',
      'without a terminal, use --passphrase-file PATH or PWPUSH_PASSPHRASE',
    );
  return { ask: passphrase, file, generateInto: passphraseOut };
}

/** @throws CliError (usage) where an agent would read a generated passphrase, or the log of a CI job would have it */
export async function refusePrintedPassphrase(
  { passphraseOut, json }: { readonly passphraseOut?: string; readonly json: boolean },
  context: Context,
): Promise<void> {
  if (passphraseOut !== '-') return;
  await refuseToPrint(context, 'the passphrase', 'write-passphrase');
  if (!json && isCi(context.env))
    throw usageError(
      'the passphrase is not printed: others read the log of a CI job',
      'write it to a file: --passphrase-out FILE',
    );
}

/** Whether `-p` asks: it takes the variable, but for another instance only where there is no terminal to ask on. */
const asks = ({ ask, owner }: PassphraseSource, context: Context) =>
  ask && context.canPrompt() && (passphraseIn(context) === undefined || owner !== undefined);

/**
 * Reads the passphrase from its source, else from `PWPUSH_PASSPHRASE`.
 * @throws CliError (usage) if it is empty, or must not be sent
 */
export async function readPassphrase(
  source: PassphraseSource,
  context: Context,
  twice: boolean,
): Promise<string | undefined> {
  const { ask, file, owner } = source;
  if (file !== undefined) return (await secretIn(file, context, 'passphrase')).normalize('NFC');
  if (asks(source, context)) return noKey(await askPassphrase(context, twice));
  const variable = passphraseIn(context);
  if (variable && owner !== undefined && !ask)
    throw usageError(
      `${notSent(owner).fact}; nothing was sent`,
      'use -p or --passphrase-file for this instance, or unset the variable',
    );
  return variable ? noKey(variable) : undefined;
}

/**
 * @param offer whether to ask for an optional passphrase if neither the source nor the variable has one
 * @throws CliError (usage) as `readPassphrase` does
 */
export async function newPassphrase(
  source: NewPassphraseSource,
  context: Context,
  offer = false,
): Promise<NewPassphrase> {
  const { generateInto } = source;
  if (generateInto !== undefined) return { generateInto };
  return beforeSending(async () => {
    const text = await readPassphrase(source, context, true);
    if (text !== undefined || !offer) return { text };
    const prompter = await context.prompter();
    const typed = await typedTwice(prompter, 'Passphrase (Enter for none):', prompter.secret);
    return { text: typed ? await noKey(typed) : undefined };
  });
}

/**
 * Refuses as a passphrase what is the key of an encrypted push, or nearly is, whatever the instance asks for: the
 * instance could decrypt the push with it. Only `--passphrase-file` gives any text, to the instance in use. Returns NFC
 * (RFC 8265, OpaqueString): other systems type other code points for the same characters, and most instances compare
 * code points.
 * @throws CliError (usage) for a key
 */
export async function noKey(passphrase: string): Promise<string> {
  const { isNearKey, looksLikeWords } = await import('../age/near-key');
  const words = looksLikeWords(passphrase) ? await wordList() : [];
  if (!isNearKey(passphrase, words)) return passphrase.normalize('NFC');
  throw usageError(
    'not sent as a passphrase: it is the key or the words of an encrypted push, or nearly so, which no instance may get',
    'a key is for pwpush get --key-file; a passphrase like one goes to the instance in use by --passphrase-file',
  );
}

export interface KnownPassphrase {
  /** With `-p`, the text is replaced when the user types it again. */
  text: string | undefined;
  /** A passphrase that was typed (`-p`) can be asked for again if it is wrong. */
  readonly typed: boolean;
  /** An option named the source, so that the passphrase may go to any instance that asks for one. */
  readonly byOption: boolean;
}

export async function knownPassphrase(
  source: PassphraseSource,
  context: Context,
): Promise<KnownPassphrase> {
  const { ask, file } = source;
  const text = await readPassphrase(source, context, false);
  const typed = asks(source, context);
  // A person who is asked anyway need not have meant the variable for another instance.
  const byOption = file !== undefined || (ask && (typed || !context.canPrompt()));
  return { text, typed, byOption };
}

/** Returns what errors and prompts say of `PWPUSH_PASSPHRASE` when it is for another instance. */
export function notSent(owner: string) {
  const fact = `PWPUSH_PASSPHRASE is for ${owner}`;
  return { fact, question: `Passphrase (${fact}; or --passphrase-file):` };
}

export async function askPassphrase(
  context: Context,
  twice: boolean,
  question = 'Passphrase:',
): Promise<string> {
  const prompter = await context.prompter();
  const ask = (text: string) => filledIn(text, prompter.secret);
  return twice ? typedTwice(prompter, question, ask) : ask(question);
}

/** Asks again if the two passphrases differ: ending the run would lose the secret that was typed before. */
async function typedTwice(
  prompter: Prompter,
  question: string,
  ask: (question: string) => Promise<string>,
): Promise<string> {
  const mismatch = usageError('the passphrases do not match; nothing was sent');
  return askUntil(
    async (failure) => {
      const typed = await ask(failure ? "They don't match, try again:" : question);
      if (typed === '') return typed;
      const repeated = await prompter.secret('Passphrase again:');
      if (repeated.normalize() === typed.normalize()) return typed;
      throw mismatch;
    },
    (failure) => failure === mismatch,
  );
}

import { open, unlink } from 'node:fs/promises';
import type { Context } from '../../context';
import { CliError, usageError } from '../../errors';
import { generateWords } from '../../input/random-secret';
import type { GlobalOptions } from '../../options';
import { writeAndClose } from '../../system/atomic-file';
import { isOpen } from './unanswered';

interface NewPassphraseOptions extends GlobalOptions {
  readonly passphraseOut?: string;
}

/** A generated passphrase, which the sender has been given. */
export interface NewPassphrase {
  readonly passphrase: string;
  /** Removes its file after a failure, unless the push may have been created all the same. */
  withdraw(failure: unknown): Promise<void>;
}

/** 64 bits: instances allow a few tries a minute. */
const WORDS = 5;

/**
 * Generates a passphrase and gives it to the user before anything is sent, so that there is no push whose passphrase
 * nobody knows.
 * @throws CliError (usage) if it can be neither shown nor written
 */
export async function newPassphrase(
  context: Context,
  options: NewPassphraseOptions,
): Promise<NewPassphrase> {
  const { passphraseOut: path } = options;
  const passphrase = await generateWords(WORDS);
  if (path === undefined) await show(passphrase, context, options);
  else await writeNew(path, `${passphrase}\n`);
  const withdraw = async (failure: unknown) => {
    const made = !(failure instanceof CliError) || isOpen(failure);
    if (path !== undefined && !made) await unlink(path).catch(() => {});
  };
  return { passphrase, withdraw };
}

async function show(
  passphrase: string,
  { stderr }: Context,
  { json }: GlobalOptions,
): Promise<void> {
  const line = json ? JSON.stringify({ passphrase }) : `passphrase: ${passphrase}`;
  try {
    if (stderr.closed) throw new Error('closed');
    await stderr.write(`${line}\n`);
  } catch {
    throw usageError(
      'cannot show the passphrase: cannot write to standard error; nothing was sent',
      'write it to a file with --passphrase-out FILE',
    );
  }
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    const file = await open(path, 'wx', 0o600);
    // Whatever the umask is.
    await file.chmod(0o600);
    await writeAndClose(file, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw usageError(`"${path}" already exists; nothing was sent`, 'choose a new file');
    if (code === 'ENOSPC') await unlink(path).catch(() => {});
    throw usageError(`cannot write "${path}" (${code}); nothing was sent`);
  }
}

import { open, unlink } from 'node:fs/promises';
import type { GlobalOptions } from '../cli/options';
import { generateWords } from '../cli/random-secret';
import type { Context } from '../platform/context';
import { CliError, usageError } from '../platform/errors';
import { writeAndClose } from '../platform/files/atomic-file';

/** A passphrase or key that was generated for the sender. */
interface Generated {
  readonly what: 'passphrase' | 'key';
  readonly text: string;
  /** A new file for it; else it is shown on stderr. */
  readonly path: string | undefined;
}

/** Removes the file of what was generated after a failure, unless the push may have been created all the same. */
export type Withdraw = (failure: unknown) => Promise<void>;

/** 64 bits: instances allow a few tries a minute. */
const WORDS = 5;

export function newPassphrase(): Promise<string> {
  return generateWords(WORDS);
}

/**
 * Gives a passphrase or key to the sender before anything is sent, so that there is no push that nobody can open.
 * @throws CliError (usage) if it can be neither shown nor written
 */
export async function giveToSender(
  generated: Generated,
  context: Context,
  options: GlobalOptions,
): Promise<Withdraw> {
  const { path, text } = generated;
  if (path === undefined) await show(generated, context, options);
  else await writeNew(path, `${text}\n`);
  return async (failure) => {
    const made = !(failure instanceof CliError) || failure.code === 'unknown';
    if (path !== undefined && !made) await unlink(path).catch(() => {});
  };
}

async function show(
  { what, text }: Generated,
  { stderr }: Context,
  { json }: GlobalOptions,
): Promise<void> {
  const line = json ? JSON.stringify({ [what]: text }) : `${what}: ${text}`;
  try {
    if (stderr.closed) throw new Error('closed');
    await stderr.write(`${line}\n`);
  } catch {
    throw usageError(
      `cannot show the ${what}: cannot write to standard error; nothing was sent`,
      `write it to a file with --${what}-out FILE`,
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

import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../context';
import { CliError } from '../errors';
import { makeFolder } from '../profile/folder';
import { stateFolder } from '../profile/place';
import { writeWhole } from './new-file';

/**
 * Saves what could not be delivered to a 0600 file in the state folder, and returns its path.
 * @throws CliError (failed) when that cannot be done either
 */
export async function rescue(
  context: Context,
  what: string,
  bytes: string | Uint8Array,
): Promise<string> {
  const folder = stateFolder(context);
  const time = context.now().toISOString().replace(/[:.]/g, '-');
  const path = join(folder, `${what}-${time}-${randomBytes(4).toString('hex')}`);
  try {
    makeFolder(folder);
    const file = await open(path, 'wx', 0o600);
    await file.chmod(0o600);
    await writeWhole(file, bytes);
  } catch (error) {
    const why = error instanceof CliError ? error.message : (error as NodeJS.ErrnoException).code;
    throw new CliError('failed', `it could not be saved to ${path} either (${why})`, {
      cause: error,
    });
  }
  return path;
}

/** Saves a result to a rescue file and makes the error that tells where. */
export async function rescued(
  context: Context,
  bytes: string | Uint8Array,
  what: string,
  problem: string,
): Promise<CliError> {
  try {
    const path = await rescue(context, what, bytes);
    return new CliError('failed', `${problem}; the ${what} was saved to ${path}`, {
      hint: `read it, then remove it: rm '${path}'`,
      remains: { saved_to: path },
    });
  } catch (error) {
    const why = error instanceof CliError ? error.message : 'it could not be saved either';
    return new CliError('failed', `${problem}, and the ${what} is LOST: ${why}`, {
      cause: error,
      remains: {},
    });
  }
}

import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { unclaimed } from '../platform/claim';
import type { Context } from '../platform/context';
import { failedError, phrase, reasonOf, usageError } from '../platform/errors';
import { makeWhole } from '../platform/files/atomic-file';
import { means, whyUnwritable } from '../platform/files/file-error';
import type { User } from '../platform/files/owner';
import { makeFolder } from '../platform/private-folder';
import { checkStateFolder, findFolder, folderOf } from '../profile/folders';

export type RescueContext = Pick<Context, 'env' | 'platform' | 'home' | 'now' | 'uid'>;

/** Prefix of the folder below `TMPDIR` that replaces a state folder that cannot be written. */
const TEMPORARY = 'pwpush-rescue-';

function temporaryFolder({ env }: Pick<Context, 'env'>): string {
  return env.TMPDIR || tmpdir();
}

/** Returns a name such as `secret-2026-08-20T11-06-45-000Z-1f2e3d4c`. */
function nameNow(what: string, { now }: RescueContext): string {
  return `${what}-${now().toISOString().replace(/[:.]/g, '-')}-${randomBytes(4).toString('hex')}`;
}

/**
 * Saves bytes to a file (0600) in the state folder, or else in a new folder (0700) below `TMPDIR`. Returns its path.
 * @throws CliError (failed) if neither can be written
 */
export async function rescue(
  context: RescueContext,
  what: string,
  bytes: string | Uint8Array,
  claim = '',
): Promise<string> {
  return inRescueFolder(context, async (folder) => {
    const path = join(folder, nameNow(what, context) + claim);
    makeWhole(path, bytes);
    return path;
  });
}

/** @throws CliError (failed) */
export function removeRescued(path: string): void {
  const folder = dirname(path);
  try {
    rmSync(path, { recursive: true, force: true });
    if (basename(folder).startsWith(TEMPORARY) && readdirSync(folder).length === 0)
      rmdirSync(folder);
  } catch (error) {
    throw failedError(phrase('not-removed', path, whyUnwritable(error)), { cause: error });
  }
}

/** @throws CliError (failed) if no new folder (0700) can be made */
export function rescueFolder(context: RescueContext): Promise<string> {
  return inRescueFolder(context, async (folder) => {
    const path = join(folder, nameNow('files', context));
    makeFolder(path);
    return path;
  });
}

async function inRescueFolder(
  context: RescueContext,
  work: (folder: string) => Promise<string>,
): Promise<string> {
  let folder = 'the state folder';
  try {
    folder = folderOf('state', context);
    makeFolder(folder);
    checkStateFolder(context);
    return await work(folder);
  } catch (error) {
    try {
      return await work(mkdtempSync(join(temporaryFolder(context), TEMPORARY)));
    } catch {
      throw failedError(phrase('not-saved-either', folder, reasonOf(error)), {
        cause: error,
      });
    }
  }
}

const NAME =
  /^(link|secret|text|response|key|download|files)-(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)-(\d{3}Z)-[0-9a-f]{8}$/;

/** Returns the oldest file first, with the time at which it was saved (ISO 8601). A folder that cannot be read counts as empty. */
export async function rescuedFiles(context: RescueContext) {
  const temporary = temporaryFolder(context);
  const folders = (await names(temporary))
    .filter((name) => name.startsWith(TEMPORARY))
    .map((name) => join(temporary, name));
  const files: { readonly path: string; readonly what: string; readonly saved: string }[] = [];
  for (const folder of [findFolder('state', context) ?? [], ...folders].flat()) {
    for (const name of await names(folder)) {
      const [, what, hour, minute, second, end] = NAME.exec(unclaimed(name)) ?? [];
      const path = join(folder, name);
      if (what === undefined || !(await isOurs(path, what === 'files', context.uid))) continue;
      files.push({ path, what, saved: `${hour}:${minute}:${second}.${end}` });
    }
  }
  return files.sort((a, b) => a.saved.localeCompare(b.saved));
}

function names(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

/** Returns false for the files of other users, as `TMPDIR` is usually shared. */
async function isOurs(path: string, isFolder: boolean, user: User): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  return (user === undefined || stats?.uid === user) && stats?.isDirectory() === isFolder;
}

/**
 * Writes a file that the sender asked for, 0600, before anything is sent.
 * @throws CliError (usage) if it exists, or cannot be written
 */
export function writeForSender(path: string, text: string): void {
  try {
    makeWhole(path, text);
  } catch (error) {
    if (means(error, 'taken'))
      throw usageError(`"${path}" already exists; nothing was sent`, 'choose a new file');
    throw usageError(`cannot write "${path}" (${whyUnwritable(error)}); nothing was sent`);
  }
}

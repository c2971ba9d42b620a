import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type ConfClass from 'conf';
import type { Entry } from '../cli/terminal/output';
import type { Context } from '../platform/context';
import { failedError, phrase } from '../platform/errors';
import {
  changeFile,
  makeFile,
  makeWhole,
  nameFile,
  setOwnMode,
} from '../platform/files/atomic-file';
import { isSystemError, means, whyUnwritable } from '../platform/files/file-error';
import { type User, whyForeign } from '../platform/files/owner';
import { syncFile, syncOpen } from '../platform/files/sync';
import { checkFolder, makeFolder } from '../platform/private-folder';
import { decodeConfig, readConfig } from './config-file';
import { configName, copyName, folderOf, type System } from './folders';
import type { StoredProfiles } from './settings';

interface StoreEntry {
  readonly context: System & Pick<Context, 'now' | 'sleep' | 'keepingSignals'>;
  readonly say: Pick<Entry['say'], 'warn'>;
}

/**
 * Changes the profiles of this user, and returns the result of `change`, which has the new state. The file is 0600, in
 * a folder of 0700, which is made if it is missing. Warns if others can read the file after the change.
 * @throws CliError as `storedProfiles` does, and (failed) if the file cannot be written; what `change` throws
 */
export async function updateProfiles<T extends StoredProfiles>(
  { context, say }: StoreEntry,
  change: (stored: StoredProfiles) => T,
): Promise<T> {
  const user = context.uid;
  // `folderOf` explains a missing home folder, without which loading conf fails in an executable.
  const folder = folderOf('config', context);
  const path = join(folder, configName);
  // The signal handlers of conf would end the process before its work is done.
  const { default: Conf } = await context.keepingSignals(() => import('conf'));
  const instead = 'set PWPUSH_CONFIG_DIR to another folder';
  makeFolder(folder, 'set-config-dir');
  checkFolder(folder, { user, what: 'the folder', instead });
  const next = await changeFile(path, context, () => {
    const before = readConfig(folder, user);
    const changed = change(decodeConfig(before, path));
    replaceBy(path, user, before, (file) => makeDraft(Conf, file, changed));
    return changed;
  }).catch((error) => {
    if (!isSystemError(error)) throw error;
    throw failedError(phrase('config-unwritable', path, whyUnwritable(error)), {
      hints: phrase('set-config-dir'),
      cause: error,
    });
  });
  if (user !== undefined && (statSync(path).mode & 0o077) !== 0)
    await say.warn(`other users can read "${path}": its file system keeps no modes`);
  return next;
}

/**
 * Replaces the config file, or rewrites it in place if the file is a mount point and cannot be replaced.
 * @param draftFor writes the new content to a file in the same folder, and returns its path
 */
function replaceBy(
  path: string,
  user: User,
  before: string | undefined,
  draftFor: (file: string) => string,
): void {
  const file = existsSync(path) ? realpathSync(path) : path;
  const draft = draftFor(file);
  try {
    const why = whyForeign(statSync(draft), user);
    if (why !== undefined)
      throw failedError(phrase('no-owners-or-modes', dirname(file), why), {
        hints: phrase('set-config-dir'),
      });
    // Conf does not sync if SNAP is in the environment.
    syncFile(draft);
    const copy = join(dirname(path), copyName);
    try {
      nameFile(draft, file, true);
    } catch (error) {
      if (!means(error, 'mounted')) throw error;
      rewrite(file, copy, before ?? '', readFileSync(draft));
    }
    rmSync(copy, { force: true });
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Writes profiles with conf into a file beside the config file: a full disk may take a part of conf's only write
 * without an error, and conf would replace all profiles by that part.
 */
function makeDraft(
  Conf: typeof ConfClass,
  file: string,
  { current, profiles }: StoredProfiles,
): string {
  const conf = new Conf<Record<string, unknown>>({
    cwd: dirname(file),
    configName: `.${basename(file)}.${randomBytes(6).toString('hex')}`,
    fileExtension: 'part',
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
    // With this option, conf reads an incomplete file as an empty one, instead of throwing.
    clearInvalidConfig: true,
  });
  const stored = { ...(current === undefined ? {} : { current }), profiles };
  try {
    conf.store = stored;
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
  // Conf fails if a file system refuses modes or renames, and writes a part on a full disk.
  if (!conf.has('profiles')) {
    rmSync(conf.path, { force: true });
    makeFile(conf.path, (draft) => writeFileSync(draft, JSON.stringify(stored, null, '\t')));
  }
  return conf.path;
}

/** Writes a file in place that is a mount point and cannot be replaced. `readConfig` reads the copy meanwhile. */
function rewrite(file: string, copy: string, before: string, content: Uint8Array): void {
  // After a rewrite that was cut off, the copy of that run may have the only whole content.
  if (!existsSync(copy) || readFileSync(copy, 'utf8') !== before) {
    rmSync(copy, { force: true });
    makeWhole(copy, before);
  }
  const opened = openSync(file, 'r+');
  try {
    setOwnMode(opened);
    ftruncateSync(opened);
    writeFileSync(opened, content);
    syncOpen(opened);
  } finally {
    closeSync(opened);
  }
}

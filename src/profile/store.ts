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
import Conf from 'conf';
import type { Context } from '../platform/context';
import { failedError, phrase } from '../platform/errors';
import {
  claimed,
  makeFile,
  makeWhole,
  nameFile,
  setOwnMode,
  versionOf,
} from '../platform/files/atomic-file';
import { isSystemError, means, whyUnwritable } from '../platform/files/file-error';
import { type User, whyForeign } from '../platform/files/owner';
import { syncFile, syncOpen } from '../platform/files/sync';
import { checkFolder, makeFolder } from '../platform/private-folder';
import { decodeConfig, readConfig } from './config-file';
import { configName, copyName } from './folders';
import type { StoredProfiles } from './settings';

/** Pauses between two tries: many frequent ones would take the processor from the program that writes. */
const SHORTEST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 160;

/**
 * A store that writes with conf, which replaces the file atomically: 0600 in a folder of 0700. It replaces only the version
 * of the file that a change was given.
 */
export function confStore(
  folder: string,
  { user, now, sleep }: Pick<Context, 'now' | 'sleep'> & { readonly user: User },
) {
  const path = join(folder, configName);
  const read = () => ({ version: versionOf(path), text: readConfig(folder, user) });
  const replaced = (before: ReturnType<typeof read>, next: StoredProfiles): boolean => {
    try {
      return claimed(path, before.version, now().getTime(), () => {
        const isSame = read().text === before.text;
        if (isSame) write(path, user, before.text, next);
        return isSame;
      });
    } catch (error) {
      if (!isSystemError(error)) throw error;
      throw failedError(phrase('config-unwritable', path, whyUnwritable(error)), {
        steps: phrase('set-config-dir'),
        cause: error,
      });
    }
  };
  return {
    /**
     * Changes the config file and returns what `change` did: the new state, and what else it has to say. It is called again if
     * another program was faster.
     * @throws CliError as `storedProfiles` does, and (failed) if the file cannot be written; what `change` throws
     */
    update: async <T extends StoredProfiles>(change: (stored: StoredProfiles) => T): Promise<T> => {
      makeFolder(folder, 'set-config-dir');
      checkFolder(folder, {
        user,
        what: 'the folder',
        instead: 'set PWPUSH_CONFIG_DIR to another folder',
      });
      for (let pause = SHORTEST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
        const before = read();
        const next = change(decodeConfig(before.text, path));
        if (replaced(before, next)) return next;
        await sleep(pause * (0.5 + Math.random()));
      }
    },
  };
}

/**
 * Writes with conf, beside the file: conf writes once, of which a disk that fills up takes a part, without an error, and
 * would put that in place of all profiles.
 * @param before the text of the file
 */
function write(
  path: string,
  user: User,
  before: string | undefined,
  { current, profiles }: StoredProfiles,
): void {
  const file = existsSync(path) ? realpathSync(path) : path;
  const conf = new Conf<Record<string, unknown>>({
    cwd: dirname(file),
    configName: `.${basename(file)}.${randomBytes(6).toString('hex')}`,
    fileExtension: 'part',
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
    // A part, which is read back as nothing.
    clearInvalidConfig: true,
  });
  const stored = { ...(current === undefined ? {} : { current }), profiles };
  try {
    try {
      conf.store = stored;
    } catch (error) {
      if (!isSystemError(error)) throw error;
    }
    // It sets modes and renames, which some file systems refuse, and writes a part where the disk is full.
    if (!conf.has('profiles')) {
      rmSync(conf.path, { force: true });
      makeFile(conf.path, (draft) => writeFileSync(draft, JSON.stringify(stored, null, '\t')));
    }
    const why = whyForeign(statSync(conf.path), user);
    if (why !== undefined)
      throw failedError(phrase('no-owners-or-modes', dirname(file), why), {
        steps: phrase('set-config-dir'),
      });
    // With SNAP in the environment, conf does not.
    syncFile(conf.path);
    const copy = join(dirname(path), copyName);
    try {
      nameFile(conf.path, file, true);
    } catch (error) {
      if (!means(error, 'mounted')) throw error;
      rewrite(file, copy, before ?? '', readFileSync(conf.path));
    }
    rmSync(copy, { force: true });
  } finally {
    rmSync(conf.path, { force: true });
  }
}

/**
 * Writes a file in place, which cannot be replaced as it is mounted alone, as into a container. Until that is done, a copy has
 * what the file had (`readConfig`).
 */
function rewrite(file: string, copy: string, before: string, content: Uint8Array): void {
  // One that is left may be all there is.
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

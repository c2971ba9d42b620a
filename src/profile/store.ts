import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Conf from 'conf';
import type { Context } from '../platform/context';
import { failedError } from '../platform/errors';
import { codeOf } from '../platform/files/file-error';
import type { User } from '../platform/files/owner';
import { syncFile, syncFolder } from '../platform/files/sync';
import { checkFolder, makeFolder } from '../platform/private-folder';
import { decodeConfig, readConfig } from './config-file';
import { configName } from './folders';
import type { StoredProfiles } from './settings';

/** A claim of this age is that of a program that died: writing takes a few milliseconds. */
const STALE_MS = 10_000;
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
  const replace = (before: ReturnType<typeof read>, next: StoredProfiles): boolean => {
    const claims = claim(`${path}.${before.version}`, now().getTime());
    if (claims === undefined) return false;
    try {
      const found = read();
      if (found.version !== before.version || found.text !== before.text) return false;
      write(path, next);
      return true;
    } finally {
      for (const name of claims) rmSync(name, { force: true });
    }
  };
  return {
    /**
     * Changes the config file and returns the new state. `change` is called again if another program was faster.
     * @throws CliError as `storedProfiles` does; what `change` throws; errors of the file system
     */
    update: async (change: (stored: StoredProfiles) => StoredProfiles) => {
      makeFolder(folder, 'set PWPUSH_CONFIG_DIR to a folder that you can write to');
      checkFolder(folder, {
        user,
        what: 'the folder',
        instead: 'set PWPUSH_CONFIG_DIR to another folder',
      });
      for (let pause = SHORTEST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
        const before = read();
        const next = change(decodeConfig(before.text, path));
        if (replace(before, next)) return next;
        await sleep(pause * (0.5 + Math.random()));
      }
    },
  };
}

/** Changes when the file is replaced. A name: it says nothing of the content, which has tokens. */
function versionOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? 'new' : `${found.ino}-${found.mtimeNs}`;
}

/**
 * Claims the right to replace one version of a file, by creating `path.0`, or the next one after those of programs that
 * died. Returns the names to remove, in that order, once the file is replaced; undefined if another program has the claim.
 * Only the program that made the last claim removes any: two that find the same stale one cannot both take it.
 */
function claim(path: string, now: number): readonly string[] | undefined {
  const claims: string[] = [];
  for (;;) {
    const name = `${path}.${claims.length}.lock`;
    claims.push(name);
    try {
      closeSync(openSync(name, 'wx', 0o600));
      return claims;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const made = statSync(name, { throwIfNoEntry: false })?.mtimeMs ?? now;
    // Also of the future, after the clock was set back.
    if (Math.abs(now - made) <= STALE_MS) return undefined;
  }
}

/**
 * Writes with conf, beside the file: conf writes once, of which a disk that fills up takes a part, without an error, and
 * would put that in place of all profiles.
 */
function write(path: string, { current, profiles }: StoredProfiles): void {
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
  try {
    conf.store = { ...(current === undefined ? {} : { current }), profiles };
    if (!conf.has('profiles')) throw failedError(`cannot write "${path}": the disk is full`);
    // With SNAP in the environment, conf does not.
    syncFile(conf.path);
    renameSync(conf.path, file);
    syncFolder(dirname(file));
  } finally {
    rmSync(conf.path, { force: true });
  }
}

// Creates files that appear whole or not at all: written under a temporary name, 0600, synced, then linked (which never
// replaces a file) or renamed. Libraries for this (write-file-atomic, atomically) always replace, cannot stream, and
// leave the mode to the umask.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { means } from './file-error';
import { syncFolder, syncHandle, syncOpen } from './sync';

const RANDOM_BYTES = 6;

/** In place of a group that may do nothing with the file, and that only its members may set. */
const KEEP = -1;

/** `temporaryFile` makes a name longer by this many bytes. */
export const TEMPORARY_EXTRA = '.'.length + '.'.length + 2 * RANDOM_BYTES + '.part'.length;

export type TemporaryFile = ReturnType<typeof temporary>;

/**
 * Creates a file, 0600 whatever the umask, named `.NAME.RANDOM.part`, which `claim` follows until its `leave`. Throws an
 * error of the file system.
 */
export async function temporaryFile(
  folder: string,
  name: string,
  claim = '',
): Promise<TemporaryFile> {
  const left = draftOf(join(folder, `.${name}`));
  const handle = await open(left + claim, 'wx', 0o600);
  await handle.chmod(0o600).catch(() => {});
  return temporary(left + claim, handle, left);
}

/** Opens a file for appending; its `leave` renames it to `left`. Throws an error of the file system. */
export async function reopenFile(path: string, left: string): Promise<TemporaryFile> {
  const { O_APPEND, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
  return temporary(path, await open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK), left);
}

function temporary(path: string, handle: FileHandle, left: string) {
  let synced = false;
  return {
    handle,
    left,
    /** Syncs, closes and names the file; false if the name is taken and `replace` is not set. */
    moveTo: async (to: string, replace: boolean) => {
      if (!synced) await syncHandle(handle);
      synced = true;
      await handle.close();
      try {
        nameFile(path, to, replace);
        return true;
      } catch (error) {
        if (replace || !means(error, 'taken')) throw error;
        return false;
      }
    },
    /** Closes and removes the file. Never throws. */
    discard: async () => {
      await handle.close().catch(() => {});
      await unlink(path).catch(() => {});
    },
    /** Closes the file and returns its path, for `reopenFile`. */
    leave: async () => {
      await handle.close();
      if (left !== path) renameSync(path, left);
      return left;
    },
  };
}

/**
 * Creates a file, 0600 whatever the umask, lets `fill` write to its descriptor, and syncs it. Synchronous: after a signal
 * the process may end at any await, and would leave an empty file. Throws EEXIST if the path exists; after any other
 * error there is no file, as a partial one could be mistaken for the whole.
 * @param like a file whose owner and mode it gets
 */
export function makeFile(
  path: string,
  fill: (file: number) => void = () => {},
  like?: Stats,
): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    setOwnMode(file);
    fill(file);
    // Another user or a group may need to read the file. Windows ignores owners and modes.
    if (like) fchownSync(file, like.uid, (like.mode & 0o070) === 0 ? KEEP : like.gid);
    if (like) fchmodSync(file, like.mode & 0o777);
    syncOpen(file);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Gives an open file the mode 0600, whatever the umask. */
export function setOwnMode(file: number): void {
  try {
    fchmodSync(file, 0o600);
  } catch {
    // File systems without modes may refuse.
  }
}

/**
 * Creates a file, 0600, that is on the disk under its final name when this returns. Synchronous for the reason of
 * `makeFile`, and throws as it does.
 * @param replace whether an existing file may be replaced; given its `Stats`, its owner and mode are kept
 * @param draft the temporary name up to random digits; such a file is left if the process is killed
 */
export function makeWhole(
  path: string,
  content: string | Uint8Array,
  replace: boolean | Stats = false,
  draft = '.',
): void {
  const random = randomBytes(RANDOM_BYTES).toString('hex');
  const temporaryPath = join(dirname(path), `${draft}${random}.part`);
  const like = typeof replace === 'object' ? replace : undefined;
  makeFile(temporaryPath, (file) => writeFileSync(file, content), like);
  try {
    nameFile(temporaryPath, path, replace !== false);
  } catch (error) {
    rmSync(temporaryPath, { force: true });
    throw error;
  }
}

/** Returns a temporary name for what gets the name `path`; `dropDrafts` finds it. */
export function draftOf(path: string): string {
  return `${path}.${randomBytes(RANDOM_BYTES).toString('hex')}.part`;
}

/**
 * Removes the drafts of `path` that killed programs have left, with what SQLite has beside them, as far as it may.
 * Without `.part`, the name could be that of a copy with its time.
 * @param silence milliseconds for which nobody has written to a draft; 0 if no other program makes one now
 */
export function dropDrafts(path: string, silence = 0): void {
  const folder = dirname(path);
  const start = `${basename(path)}.`;
  try {
    for (const name of readdirSync(folder)) {
      const end = name.startsWith(start) && name.slice(start.length);
      const isDraft = end && /^[\da-f]{12}\.part(-journal|-wal|-shm)?$/.test(end);
      const file = join(folder, name);
      if (isDraft && Date.now() - statSync(file).mtimeMs >= silence) rmSync(file);
    }
  } catch {
    // They stay until somebody may remove them.
  }
}

/** Gives a synced file its final name and syncs the folder. Throws EEXIST for a taken name, unless `replace` is set. */
export function nameFile(draft: string, path: string, replace: boolean): void {
  if (replace) renameSync(draft, path);
  else nameNew(draft, path);
  syncFolder(dirname(path));
}

function nameNew(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    if (means(error, 'taken')) throw error;
    // exFAT and SMB have no hard links, and say so by various codes. An empty file reserves the name.
    closeSync(openSync(path, 'wx', 0o600));
    try {
      renameSync(draft, path);
    } catch (refused) {
      rmSync(path, { force: true });
      throw refused;
    }
  }
  rmSync(draft, { force: true });
}

/** The program that made an older claim has died: writing takes a few milliseconds. */
const STALE_MS = 10_000;

/** Pauses between two tries: many frequent ones would take the processor from the program that writes. */
const SHORTEST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 160;

/**
 * Runs `work`, which reads and replaces a file, while no other program does the same, and returns its result. Throws an
 * error of the file system, and what `work` throws.
 */
export async function changeFile<T>(
  path: string,
  { now, sleep }: { now(): Date; sleep(milliseconds: number): Promise<unknown> },
  work: () => T,
): Promise<T> {
  for (let pause = SHORTEST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    const version = versionOf(path);
    const claims = claim(`${path}.${version}`, now().getTime());
    try {
      if (claims && versionOf(path) === version) return work();
    } finally {
      for (const name of claims ?? []) rmSync(name, { force: true });
    }
    await sleep(pause * (0.5 + Math.random()));
  }
}

/** Returns a value that changes whenever the file is replaced. It must not reveal content, as a file name has it. */
function versionOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? 'new' : `${stats.ino}-${stats.mtimeNs}`;
}

/**
 * Claims the right to replace one version of a file by creating `PATH.0.lock`, or the next number after claims of
 * programs that died. Returns the claims to remove, in that order, once the file is replaced; undefined if another
 * program has the claim. Only the program with the last claim removes any, so that two cannot both take over a stale
 * one. `platform/claim.ts` does not fit: it renames the file, and another machine cannot see whether a process runs.
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
      if (!means(error, 'taken')) throw error;
    }
    const made = statSync(name, { throwIfNoEntry: false })?.mtimeMs ?? now;
    // A claim is in the future if the clock was set back.
    if (Math.abs(now - made) <= STALE_MS) return undefined;
  }
}

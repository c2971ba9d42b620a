// What another user prepared is not used: its owner could read what is written to it, or choose what is read from it.
// Files of root are used, as root may do so anyway. Client and service share this file, which imports nothing of src.
import { lstatSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';

/** Undefined on Windows, which has no user IDs. */
export type User = number | undefined;

type Owned = Pick<Stats, 'uid' | 'mode'>;

export const WRITABLE = 0o022;
const STICKY = 0o1000;

export function isForeign({ uid }: Owned, user: User): boolean {
  return user !== undefined && uid !== user && uid !== 0;
}

/**
 * Returns why another user can decide the content of a file or folder; undefined if none can.
 * @param closed the mode bits that must not be set
 */
export function whyForeign(stats: Owned, user: User, closed = WRITABLE): string | undefined {
  if (user === undefined) return undefined;
  if (isForeign(stats, user)) return 'belongs to another user';
  return (stats.mode & closed) === 0 ? undefined : 'is open to other users';
}

/**
 * Returns whether another user may have created the file as a trap: a FIFO or a file that the user then writes to.
 * @param open the mode bits of a folder that others can write to
 */
export function isPlanted(stats: Owned, folder: Owned, user: User, open = WRITABLE): boolean {
  return isForeign(stats, user) && (folder.mode & open) !== 0;
}

const MAX_LINKS = 40;

export class ForeignLink extends Error {
  constructor(readonly path: string) {
    super('foreign link');
  }
}

/**
 * Returns the path that symbolic links lead to, which need not exist, or the path itself without links. Follows links
 * as Linux does with `fs.protected_symlinks`, and more strictly in folders that are not sticky.
 * @throws ForeignLink for a link of another user; errors of the file system
 */
export function followed(path: string, user: User): string {
  if (user === undefined)
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? realpathSync(path) : path;
  let folder = isAbsolute(path) ? '/' : resolve('.');
  let left = path.split('/');
  let links = 0;
  for (let name = left.shift(); name !== undefined; name = left.shift()) {
    const next = name === '..' ? dirname(folder) : join(folder, name);
    const stats = lstatSync(next, { throwIfNoEntry: false });
    if (stats === undefined) return links === 0 ? path : join(next, ...left);
    if (!stats.isSymbolicLink()) {
      folder = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS || !mayFollow(stats, statSync(folder), user)) throw new ForeignLink(next);
    const target = readlinkSync(next);
    if (isAbsolute(target)) folder = '/';
    left = [...target.split('/'), ...left];
  }
  return links === 0 ? path : folder;
}

function mayFollow(link: Owned, folder: Owned, user: User): boolean {
  if ((folder.mode & WRITABLE) === 0 || !isForeign(link, user)) return true;
  return (folder.mode & STICKY) !== 0 && link.uid === folder.uid;
}

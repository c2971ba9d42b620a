import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { safeName } from '../../deliver/safe-name';
import { type CliError, usageError } from '../../platform/errors';
import { codeOf, whyUnreadable, whyUnwritable } from '../../platform/files/file-error';

// Keeps the files that a caller names below a folder. Between the check of a path and its use, another program of this
// user could replace a folder by a link, but such a program does not need this one for an attack. Writing a file never
// follows a link in the last component: the file gets its name only if nothing has that name.

/**
 * Returns the path of an existing file below the root, with links resolved.
 * @throws CliError (usage) for any other path
 */
export async function fileBelow(root: string, path: string): Promise<string> {
  const absolute = namedBelow(root, path);
  const real = await realpath(absolute).catch((error) => {
    throw usageError(`cannot read "${path}" (${whyUnreadable(error)})`, 'name a file that exists');
  });
  await checkInside(root, real, path);
  if (!(await stat(real)).isFile()) throw usageError(`"${path}" is not a regular file`);
  return real;
}

/**
 * Returns the path of a new file below the root, with links resolved. If `path` is a folder or ends like one, the
 * result ends in a separator.
 * @throws CliError (usage) if the file exists, or if it would be outside the root
 */
export async function newBelow(root: string, path: string): Promise<string> {
  const absolute = namedBelow(root, path);
  const existing = await lstat(absolute).catch(() => undefined);
  const isFolder = existing && (await stat(absolute).catch(() => undefined))?.isDirectory();
  if (existing && !isFolder)
    throw usageError(`"${path}" already exists`, 'name a new file: nothing is overwritten');
  if (isFolder) {
    const real = await realpath(absolute);
    await checkInside(root, real, path);
    return join(real, sep);
  }
  const parent = await realFolder(dirname(absolute), /[/\\]$/.test(path), path);
  await checkInside(root, parent, path);
  return join(parent, basename(absolute)) + (/[/\\]$/.test(path) ? sep : '');
}

/** Resolves the path, but refuses `..`, NUL, and on Windows the names of devices and streams. */
function namedBelow(root: string, path: string): string {
  const parts = path.split(/[/\\]/);
  if (path === '' || path.includes('\0')) throw usageError('the path is empty or contains NUL');
  if (parts.includes('..')) throw outside(path);
  const odd = (part: string) =>
    safeName(part.replace(/^\.+/, ''), true) !== part.replace(/^\.+/, '');
  if (
    sep === '\\' &&
    parts.slice(isAbsolute(path) ? 1 : 0).some((part) => part !== '' && odd(part))
  )
    throw usageError(`"${path}" is not a name for a file`);
  return resolve(root, path);
}

/**
 * Returns the path of a folder, with links resolved.
 * @param makes whether the caller will create missing folders
 */
async function realFolder(folder: string, makes: boolean, path: string): Promise<string> {
  try {
    const real = await realpath(folder);
    if ((await stat(real)).isDirectory()) return real;
    throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' });
  } catch (error) {
    // Creating the target of a dangling link could create a folder outside the root.
    const isLink = (await lstat(folder).catch(() => undefined))?.isSymbolicLink();
    if (codeOf(error) !== 'ENOENT' || isLink || !makes || dirname(folder) === folder)
      throw usageError(
        `cannot write "${path}" (${whyUnwritable(error)})`,
        'create its folder first',
      );
    return join(await realFolder(dirname(folder), makes, path), basename(folder));
  }
}

async function checkInside(root: string, real: string, path: string): Promise<void> {
  const from = relative(await realpath(root), real);
  if (from === '..' || from.startsWith(`..${sep}`) || isAbsolute(from)) throw outside(path);
}

function outside(path: string): CliError {
  return usageError(
    `"${path}" is outside the folder of this server`,
    'name a path below it, relative to it, without ".." and without links that lead out',
  );
}

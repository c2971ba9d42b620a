export const NOT_UTF8 = 'its name is not UTF-8';

/**
 * `missing`: no file has the name. `taken`: a file has it. `unsupported`: the file system lacks modes, links or syncs,
 * without which the file is still written. `mounted`: the file is a mount point, such as in a container, so that it can
 * be rewritten but not replaced.
 */
type Meaning = 'missing' | 'taken' | 'unsupported' | 'mounted';

interface FileError {
  readonly means?: Meaning;
  readonly words?: string;
  /** Replaces `words` for an error of writing. */
  readonly written?: string;
}

/** EIO, ENOSPC, EDQUOT and EROFS are not `unsupported`: a sync that fails with them may have lost data (fsync(2)). */
const errors: Readonly<Record<string, FileError>> = {
  ENOENT: { means: 'missing', words: 'no such file', written: 'no such folder' },
  ENOTDIR: { means: 'missing', words: 'a part of its path is a file' },
  ENAMETOOLONG: { means: 'missing', words: 'its name is too long' },
  EEXIST: { means: 'taken', words: 'a file has that name' },
  EISDIR: { words: 'is a folder', written: 'it is a folder' },
  EACCES: { words: 'permission denied' },
  EROFS: { words: 'its file system is read-only' },
  ENOSPC: { words: 'the disk is full' },
  EDQUOT: { words: 'the disk quota is used up' },
  EBUSY: { means: 'mounted' },
  EXDEV: { means: 'mounted' },
  EINVAL: { means: 'unsupported' },
  ENOSYS: { means: 'unsupported' },
  ENOTSUP: { means: 'unsupported' },
  EOPNOTSUPP: { means: 'unsupported' },
  // Windows, FUSE, 9P and network mounts refuse modes and links with EPERM.
  EPERM: { means: 'unsupported', words: 'not permitted' },
};

export function codeOf(error: unknown): string | undefined {
  return typeof error === 'string' ? error : (error as NodeJS.ErrnoException).code;
}

export function means(error: unknown, meaning: Meaning): boolean {
  return errors[codeOf(error) ?? '']?.means === meaning;
}

/** Returns whether this is an error of the system, such as ENOENT, and not a CliError, which has a `code` too. */
export function isSystemError(error: unknown): boolean {
  return /^E[A-Z]+$/.test(codeOf(error) ?? '');
}

/** Returns the reason in words, or the system's code if there are none. */
export function whyUnwritable(error: unknown): string {
  const code = codeOf(error) ?? 'error';
  const { words = code, written = words } = errors[code] ?? {};
  return written;
}

/** Returns whether a path may have had bytes that are not UTF-8: Node.js replaces them by U+FFFD in arguments. */
export function isGarbled(path: string | undefined): boolean {
  return path?.includes('\ufffd') ?? false;
}

export function whyUnreadable(error: unknown): string {
  const { path } = error as NodeJS.ErrnoException;
  if (codeOf(error) === 'ENOENT' && isGarbled(path)) return NOT_UTF8;
  const code = codeOf(error) ?? 'unknown error';
  return errors[code]?.words ?? code;
}

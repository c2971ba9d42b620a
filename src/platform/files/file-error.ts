export const NOT_UTF8 = 'its name is not UTF-8';

/**
 * What an error of the file system says about going on: there is nothing of that name, or something; the file system has no such
 * thing as modes, links or syncs, without which what was written is there all the same; the file can be rewritten but not
 * replaced, as it is mounted alone, such as into a container.
 */
type Meaning = 'missing' | 'taken' | 'unsupported' | 'mounted';

interface FileError {
  readonly means?: Meaning;
  readonly words?: string;
  /** The words for a file that was to be written, where that is another reason. */
  readonly written?: string;
}

/** EIO, ENOSPC, EDQUOT and EROFS of a sync say that what was written may not be there (fsync(2)). */
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
  // Windows, FUSE, 9P and network mounts refuse modes and links so.
  EPERM: { means: 'unsupported', words: 'not permitted' },
};

/** The code of an error of the system, such as ENOENT, or of one of ours; a code itself. */
export function codeOf(error: unknown): string | undefined {
  return typeof error === 'string' ? error : (error as NodeJS.ErrnoException).code;
}

export function means(error: unknown, meaning: Meaning): boolean {
  return errors[codeOf(error) ?? '']?.means === meaning;
}

/** Whether it is an error of the system, such as ENOENT, and not one of ours, which has a `code` too. */
export function isSystemError(error: unknown): boolean {
  return /^E[A-Z]+$/.test(codeOf(error) ?? '');
}

/** The reason why a file, a folder or a stream takes no bytes, in words where there are any, else as the code of the system. */
export function whyUnwritable(error: unknown): string {
  const code = codeOf(error) ?? 'error';
  const { words = code, written = words } = errors[code] ?? {};
  return written;
}

/** Whether a path may have had bytes that are not UTF-8, in place of which Node.js has U+FFFD in arguments. */
export function isGarbled(path: string | undefined): boolean {
  return path?.includes('\ufffd') ?? false;
}

/** Why a file cannot be read, in words where there are any, else as the system's code. */
export function whyUnreadable(error: unknown): string {
  const { path } = error as NodeJS.ErrnoException;
  if (codeOf(error) === 'ENOENT' && isGarbled(path)) return NOT_UTF8;
  const code = codeOf(error) ?? 'unknown error';
  return errors[code]?.words ?? code;
}

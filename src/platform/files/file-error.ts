export const NOT_UTF8 = 'its name is not UTF-8';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'is a folder',
  EACCES: 'permission denied',
};

/** The code of an error of the system, such as ENOENT, or of one of ours. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** Whether it is an error of the system, such as ENOENT, and not one of ours, which has a `code` too. */
export function isSystemError(error: unknown): boolean {
  return /^E[A-Z]+$/.test(codeOf(error) ?? '');
}

/** Why a write failed: in words if the disk is full, else the system's code. */
export function whyUnwritable(code: string | undefined): string {
  return code === 'ENOSPC' ? 'the disk is full' : `${code}`;
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
  return reasons[code] ?? code;
}

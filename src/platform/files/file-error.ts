const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'is a folder',
  EACCES: 'permission denied',
};

/** Whether it is an error of the system, such as ENOENT, and not one of ours, which has a `code` too. */
export function isSystemError(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^E[A-Z]+$/.test(code);
}

/** The code of an error of the system, or the message of another one. */
export function codeOrMessage(error: unknown): string | undefined {
  const { code, message } = error as NodeJS.ErrnoException;
  return isSystemError(error) ? code : message;
}

/** Why a file cannot be read, in words where there are any, else as the system's code. */
export function whyUnreadable(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return reasons[code ?? ''] ?? code ?? 'unknown error';
}

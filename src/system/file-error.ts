const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'is a folder',
  EACCES: 'permission denied',
};

/** Why a file cannot be read, in words where there are any, else as the system's code. */
export function whyUnreadable(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return reasons[code ?? ''] ?? code ?? 'unknown error';
}

import { fstatSync, readFileSync, type Stats } from 'node:fs';

// This file tells what the open descriptors of the process are.

export function statOf(fd: number): Stats | undefined {
  try {
    return fstatSync(fd);
  } catch {
    return undefined;
  }
}

export const isPiped = (kind: Stats | undefined) =>
  kind !== undefined && (kind.isFile() || kind.isFIFO() || kind.isSocket());

/** /dev/null has this device number (null(4)). */
export function isNull({ platform }: NodeJS.Process, kind: Stats | undefined): boolean {
  return platform === 'linux' && kind?.rdev === 0x103;
}

/**
 * Returns whether writes would vanish without an error. For a standard stream that was closed at the start, Node opens
 * /dev/null for reading and writing (a shell's `>/dev/null` is write-only); it discards writes to a folder, for one.
 */
export function wasClosed(node: NodeJS.Process, fd: 1 | 2): boolean {
  const kind = statOf(fd);
  if (kind === undefined) return false;
  if (isNull(node, kind)) return ((openAs(fd, 'flags', 8) ?? 0) & 0o3) === 2;
  return !isPiped(kind) && !kind.isCharacterDevice();
}

/** Returns a field of an open descriptor from /proc (proc_pid_fdinfo(5)); undefined on systems other than Linux. */
export function openAs(fd: number, field: 'pos' | 'flags', radix: number): number | undefined {
  try {
    const text = readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8');
    const value = new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(text)?.[1];
    return value === undefined ? undefined : Number.parseInt(value, radix);
  } catch {
    return undefined;
  }
}

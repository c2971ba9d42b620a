// The path of a user's folder is absolute: a relative one would lead to the current folder, whose files may be another person's.
import { isAbsolute } from 'node:path';

type Variables = Readonly<Record<string, string | undefined>>;
type System = { readonly env: Variables; readonly platform: string };

/**
 * A row has the variable, what is below the home folder of Unix and macOS, the variable of Windows, and what is below
 * `pwpush` there.
 */
const places = {
  config: ['XDG_CONFIG_HOME', '.config', 'Library/Preferences', 'APPDATA', 'Config'],
  state: ['XDG_STATE_HOME', '.local/state', 'Library/Application Support', 'LOCALAPPDATA', 'State'],
  data: ['XDG_DATA_HOME', '.local/share', 'Library/Application Support', 'LOCALAPPDATA', 'Data'],
  cache: ['XDG_CACHE_HOME', '.cache', 'Library/Caches', 'LOCALAPPDATA', 'Cache'],
} as const;

/** The path if it is absolute (XDG Base Directory Specification, "Environment variables"). */
export const absolute = (path = '') => (isAbsolute(path) ? path : undefined);

/** The environment decides, else the user's `entry`, which may throw; undefined without a home. */
export function homeFolder({ env, platform }: System, entry: () => string) {
  try {
    return absolute(env[platform === 'win32' ? 'USERPROFILE' : 'HOME']) ?? absolute(entry());
  } catch {
    return undefined;
  }
}

/** The first element is a folder that other programs make, the others are names below it; empty without one. */
export function userFolder(
  kind: keyof typeof places,
  { env, platform, home }: System & { readonly home: string | undefined },
): readonly string[] {
  const [xdg, unix, mac, variable, own] = places[kind];
  const isWindows = platform === 'win32';
  const names = isWindows ? ['pwpush', own] : ['pwpush'];
  const base = absolute(env[isWindows ? variable : xdg]);
  if (base !== undefined) return [base, ...names];
  const below = isWindows ? 'AppData' : platform === 'darwin' ? mac : unix;
  return home === undefined ? [] : [home, ...below.split('/'), ...names];
}

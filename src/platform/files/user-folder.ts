// User folders have absolute paths: a relative one would be in the current folder, whose files may be another user's.
import { isAbsolute } from 'node:path';

type Variables = Readonly<Record<string, string | undefined>>;
type System = { readonly env: Variables; readonly platform: string };

/**
 * A row has the XDG variable, the paths below the home folder of Unix and macOS, the variable of Windows, and the
 * folder below `pwpush` on Windows.
 */
const places = {
  config: ['XDG_CONFIG_HOME', '.config', 'Library/Preferences', 'APPDATA', 'Config'],
  state: ['XDG_STATE_HOME', '.local/state', 'Library/Application Support', 'LOCALAPPDATA', 'State'],
  data: ['XDG_DATA_HOME', '.local/share', 'Library/Application Support', 'LOCALAPPDATA', 'Data'],
  cache: ['XDG_CACHE_HOME', '.cache', 'Library/Caches', 'LOCALAPPDATA', 'Cache'],
} as const;

/** Ignores a relative path (XDG Base Directory Specification, "Environment variables"). */
export const absolute = (path = '') => (isAbsolute(path) ? path : undefined);

/**
 * Returns the home folder of the environment, or of the user's system `entry`, which may throw; undefined without one.
 */
export function homeFolder({ env, platform }: System, entry: () => string) {
  try {
    return absolute(env[platform === 'win32' ? 'USERPROFILE' : 'HOME']) ?? absolute(entry());
  } catch {
    return undefined;
  }
}

/** Returns a folder that other programs create, then names below it; empty without a home folder. */
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

import { join } from 'node:path';
import type { Context } from '../platform/context';
import { checkFolder } from '../platform/private-folder';

/** Decides where folders are. */
type Surroundings = Pick<Context, 'env' | 'platform' | 'home'>;

/** And whose they must be. */
export type System = Pick<Context, 'env' | 'platform' | 'home' | 'uid'>;

/** Below the home folder of Unix and macOS; the variable of Windows, and a folder below that of the program. */
const places = {
  config: ['.config', 'Library/Preferences', 'APPDATA', 'Config'],
  state: ['.local/state', 'Library/Application Support', 'LOCALAPPDATA', 'State'],
  data: ['.local/share', 'Library/Application Support', 'LOCALAPPDATA', 'Data'],
} as const;

/** The file of the profiles. */
export const configName = 'config.json';

/** What that file had, while it is rewritten in place. */
export const copyName = `${configName}.old`;

/** A path as a shell would have it, which expands no `~/` in quotes and in files of variables. */
export function fromHome(path: string, { home }: Pick<Surroundings, 'home'>): string {
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path;
}

/** Its folder: `PWPUSH_CONFIG_DIR`, else the platform's. */
export function configFolder(system: Surroundings): string {
  const own = system.env.PWPUSH_CONFIG_DIR;
  return own ? fromHome(own, system) : platformFolder(system, 'XDG_CONFIG_HOME', places.config);
}

/** The folder of rescue files: `PWPUSH_STATE_DIR`, else the platform's. */
export function stateFolder(system: Surroundings): string {
  const own = system.env.PWPUSH_STATE_DIR;
  return own ? fromHome(own, system) : platformFolder(system, 'XDG_STATE_HOME', places.state);
}

/** The default folder of the database of `pwpush serve`. */
export function dataFolder(system: Surroundings): string {
  return platformFolder(system, 'XDG_DATA_HOME', places.data);
}

/**
 * Checks a folder below the state folder, and that one.
 * @throws CliError (usage) if another user prepared one of them, or can
 */
export function checkStateFolder(system: System, folder: string): void {
  const instead = 'set PWPUSH_STATE_DIR to another folder';
  for (const path of new Set([stateFolder(system), folder]))
    checkFolder(path, { user: system.uid, what: 'the folder', instead });
}

function platformFolder(
  { env, home, platform }: Surroundings,
  xdg: string,
  [unix, mac, variable, folder]: (typeof places)[keyof typeof places],
): string {
  if (platform === 'win32') return join(env[variable] || join(home, 'AppData'), 'pwpush', folder);
  // A relative path must be ignored (XDG Base Directory Specification, "Environment variables").
  const base = env[xdg]?.startsWith('/') ? env[xdg] : undefined;
  return join(base ?? join(home, platform === 'darwin' ? mac : unix), 'pwpush');
}

import { join } from 'node:path';
import type { Environment } from '../platform/context';
import type { User } from '../platform/files/owner';
import { checkFolder } from '../platform/private-folder';

/** Decides where folders are. */
export interface Surroundings {
  readonly env: Environment;
  readonly platform: string;
  readonly home: string;
}

/** And whose they must be. */
export interface System extends Surroundings {
  readonly uid: User;
}

/** The folder of `config.json`: `PWPUSH_CONFIG_DIR`, else the platform's. */
export function configFolder(system: Surroundings): string {
  return platformFolder(system, 'PWPUSH_CONFIG_DIR', 'XDG_CONFIG_HOME', {
    unix: '.config',
    mac: 'Library/Preferences',
    windows: ['APPDATA', 'Config'],
  });
}

/** The folder of rescue files: `PWPUSH_STATE_DIR`, else the platform's. */
export function stateFolder(system: Surroundings): string {
  return platformFolder(system, 'PWPUSH_STATE_DIR', 'XDG_STATE_HOME', {
    unix: '.local/state',
    mac: 'Library/Application Support',
    windows: ['LOCALAPPDATA', 'State'],
  });
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

/** The default folder of the database of `pwpush serve`. */
export function dataFolder(system: Surroundings): string {
  return platformFolder(system, undefined, 'XDG_DATA_HOME', {
    unix: '.local/share',
    mac: 'Library/Application Support',
    windows: ['LOCALAPPDATA', 'Data'],
  });
}

/** Names below the home folder, by platform. */
interface PlatformFolders {
  readonly unix: string;
  readonly mac: string;
  /** A variable, and a folder below that of the program. */
  readonly windows: readonly [string, string];
}

function platformFolder(
  system: Surroundings,
  own: string | undefined,
  xdg: string,
  platformFolders: PlatformFolders,
): string {
  const { env, home, platform } = system;
  const named = own === undefined ? undefined : env[own];
  if (named) return named;
  if (platform === 'win32') {
    const [variable, folder] = platformFolders.windows;
    return join(env[variable] || join(home, 'AppData'), 'pwpush', folder);
  }
  // A relative path must be ignored (XDG Base Directory Specification, "Environment variables").
  const base = env[xdg]?.startsWith('/') ? env[xdg] : undefined;
  if (base) return join(base, 'pwpush');
  return join(home, platform === 'darwin' ? platformFolders.mac : platformFolders.unix, 'pwpush');
}

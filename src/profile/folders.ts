import { join } from 'node:path';
import type { Environment } from '../context';

interface Machine {
  readonly env: Environment;
  readonly platform: string;
  readonly home: string;
}

/** The folder of `config.json`: `PWPUSH_CONFIG_DIR`, else the platform's. */
export function configFolder(machine: Machine): string {
  return place(machine, 'PWPUSH_CONFIG_DIR', 'XDG_CONFIG_HOME', {
    unix: '.config',
    mac: 'Library/Preferences',
    windows: ['APPDATA', 'Config'],
  });
}

/** The folder of rescue files: `PWPUSH_STATE_DIR`, else the platform's. */
export function stateFolder(machine: Machine): string {
  return place(machine, 'PWPUSH_STATE_DIR', 'XDG_STATE_HOME', {
    unix: '.local/state',
    mac: 'Library/Application Support',
    windows: ['LOCALAPPDATA', 'State'],
  });
}

/** Where `pwpush serve` keeps its database unless told with `--data`. */
export function dataFolder(machine: Machine): string {
  return place(machine, undefined, 'XDG_DATA_HOME', {
    unix: '.local/share',
    mac: 'Library/Application Support',
    windows: ['LOCALAPPDATA', 'Data'],
  });
}

interface Customs {
  readonly unix: string;
  readonly mac: string;
  /** The variable, and the folder below the program's. */
  readonly windows: readonly [string, string];
}

function place(machine: Machine, own: string | undefined, xdg: string, customs: Customs): string {
  const { env, home, platform } = machine;
  const named = own === undefined ? undefined : env[own];
  if (named) return named;
  if (platform === 'win32') {
    const [variable, folder] = customs.windows;
    return join(env[variable] || join(home, 'AppData'), 'pwpush', folder);
  }
  // XDG: a relative path is to be ignored (Base Directory Specification, "Environment variables").
  const base = env[xdg]?.startsWith('/') ? env[xdg] : undefined;
  if (base) return join(base, 'pwpush');
  return join(home, platform === 'darwin' ? customs.mac : customs.unix, 'pwpush');
}

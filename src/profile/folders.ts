import { join } from 'node:path';
import type { Context } from '../platform/context';
import { usageError } from '../platform/errors';
import { readVariable } from '../platform/files/read-variable';
import { absolute, userFolder } from '../platform/files/user-folder';
import { checkFolder } from '../platform/private-folder';

export type System = Pick<Context, 'env' | 'platform' | 'home' | 'uid'>;

/** Profiles are in `config`, rescue files and receipts in `state`, and the data of a service in `data`. */
type Kind = 'config' | 'state' | 'data';

/** A variable names the folder itself, not one above it. */
const variables: { readonly [K in Kind]?: string } = {
  config: 'PWPUSH_CONFIG_DIR',
  state: 'PWPUSH_STATE_DIR',
};

export const configName = 'config.json';

/** A copy of the config file, while that is rewritten in place. */
export const copyName = `${configName}.old`;

const NO_HOME = 'HOME is not an absolute path, and the user has no home folder';

/**
 * Expands `~/`, which shells do not expand in quotes and in files of variables.
 * @throws CliError (usage) without a home folder
 */
export function fromHome(path: string, { home }: Pick<System, 'home'>): string {
  if (path !== '~' && !path.startsWith('~/')) return path;
  if (home === undefined) throw usageError(`cannot find "${path}": ${NO_HOME}`);
  return join(home, path.slice(1));
}

/** @throws CliError (usage) if the variable of the folder is not an absolute path */
export function findFolder(kind: Kind, system: Omit<System, 'uid'>): string | undefined {
  const name = variables[kind];
  const path = name && readVariable(system.env, name);
  if (path && absolute(path) === undefined)
    throw usageError(
      `${name} is not an absolute path: "${path}"`,
      path.startsWith('~') ? 'shells expand ~ only where it is not quoted' : undefined,
    );
  const parts = userFolder(kind, system);
  return path || (parts.length > 0 ? join(...parts) : undefined);
}

/** @throws CliError (usage) as `findFolder` does, and if the user has no such folder */
export function folderOf(kind: Kind, system: Omit<System, 'uid'>): string {
  const folder = findFolder(kind, system);
  if (folder !== undefined) return folder;
  const name = variables[kind];
  throw usageError(`there is no ${kind} folder: ${NO_HOME}`, name && `set ${name}`);
}

/** @param what names a file or folder of the state folder in errors */
export function stateRule({ uid: user }: Pick<System, 'uid'>, what: string) {
  return { user, what, instead: 'set PWPUSH_STATE_DIR to another folder' };
}

/** @throws CliError (usage) if another user made the state folder or one below it, or can write to it */
export function checkStateFolder(system: System, ...below: string[]): void {
  const rule = stateRule(system, 'the folder');
  for (const path of [folderOf('state', system), ...below]) checkFolder(path, rule);
}

import { join } from 'node:path';
import type { Context } from '../platform/context';
import { usageError } from '../platform/errors';
import { absolute, userFolder } from '../platform/files/user-folder';
import { checkFolder } from '../platform/private-folder';

export type System = Pick<Context, 'env' | 'platform' | 'home' | 'uid'>;

/** The folders of profiles, of rescue files and receipts, and of the data of a service. */
type Kind = 'config' | 'state' | 'data';

/** Variables that are such a folder themselves. */
const variables: { readonly [K in Kind]?: string } = {
  config: 'PWPUSH_CONFIG_DIR',
  state: 'PWPUSH_STATE_DIR',
};

export const configName = 'config.json';

/** What the config file had, while it is rewritten in place. */
export const copyName = `${configName}.old`;

const NO_HOME = 'HOME is not an absolute path, and the user has no home folder';

/**
 * A path as a shell would have it, which expands no `~/` in quotes and in files of variables.
 * @throws CliError (usage) without a home folder
 */
export function fromHome(path: string, { home }: Pick<System, 'home'>): string {
  if (path !== '~' && !path.startsWith('~/')) return path;
  if (home === undefined) throw usageError(`cannot find "${path}": ${NO_HOME}`);
  return join(home, path.slice(1));
}

/** @throws CliError (usage) if the variable for it is not an absolute path */
export function findFolder(kind: Kind, system: Omit<System, 'uid'>): string | undefined {
  const name = variables[kind];
  const path = name && system.env[name];
  if (path && absolute(path) === undefined)
    throw usageError(
      `${name} is not an absolute path: "${path}"`,
      path.startsWith('~') ? 'shells expand ~ only where it is not quoted' : undefined,
    );
  const found = userFolder(kind, system);
  return path || (found.length > 0 ? join(...found) : undefined);
}

/** @throws CliError (usage) as `findFolder`, and where the user has no such folder */
export function folderOf(kind: Kind, system: Omit<System, 'uid'>): string {
  const found = findFolder(kind, system);
  if (found !== undefined) return found;
  const name = variables[kind];
  throw usageError(`there is no ${kind} folder: ${NO_HOME}`, name && `set ${name}`);
}

/**
 * Checks the state folder, and folders below it.
 * @throws CliError (usage) if another user prepared one of them, or can
 */
export function checkStateFolder(system: System, ...below: string[]): void {
  const instead = 'set PWPUSH_STATE_DIR to another folder';
  for (const path of [folderOf('state', system), ...below])
    checkFolder(path, { user: system.uid, what: 'the folder', instead });
}

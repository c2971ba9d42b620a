import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../../context';
import { rescuedFiles } from '../../delivery/rescue';
import { CliError } from '../../errors';
import { configFolder } from '../../profile/folders';
import { configName, readProfiles } from '../../profile/read';
import { count } from '../../terminal/time';
import type { Check, Finding } from './check';

/** The config file can be read, by its owner alone. */
export const config: Check = {
  name: 'config',
  needs: [],
  examine: (_facts, context): Finding => {
    const folder = configFolder(context);
    const path = join(folder, configName);
    const { profiles } = readProfiles(folder);
    if (modeOf(path) === undefined) return { message: `none yet; it will be ${path}` };
    if (context.platform !== 'win32') {
      refuseOpen(folder, 0o700);
      refuseOpen(path, 0o600);
    }
    return { message: `${path}, ${count(Object.keys(profiles).length, 'profile')}` };
  },
};

function modeOf(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && found.mode & 0o777;
}

/** @throws CliError (failed) when others may do anything with it */
function refuseOpen(path: string, wanted: number): void {
  const mode = modeOf(path) ?? wanted;
  if ((mode & 0o077) === 0) return;
  const octal = (bits: number) => bits.toString(8).padStart(4, '0');
  throw new CliError('failed', `${path} is open to others: its mode is ${octal(mode)}`, {
    hint: `it holds tokens: chmod ${octal(wanted)} '${path}'`,
  });
}

/** No secret lies where it was saved to because it could not be delivered. */
export const rescue: Check = {
  name: 'rescue',
  needs: [],
  examine: async (_facts, context: Context): Promise<Finding> => {
    const found = await rescuedFiles(context);
    if (found.length === 0) return { message: 'no rescue files lie about' };
    const paths = found.map(({ path, what }) => `${path} (${what})`);
    throw new CliError(
      'failed',
      `${count(found.length, 'rescue file')}, oldest first: ${paths.join(', ')}`,
      { hint: 'use what is in them, then remove them' },
    );
  },
};

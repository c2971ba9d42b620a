import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Context } from '../context';

/** The path of a program, or the status that shells end with when there is none or it cannot be run. */
export type Found = { readonly file: string } | { readonly status: 126 | 127 };

/** Without the variable; an empty one would name the current folder. */
const USUAL = ['/usr/local/bin', '/usr/bin', '/bin'].join(delimiter);

/** Looks for a program as `execvp` does: along `PATH`, or where its name leads. */
export async function findProgram(
  name: string,
  { env, platform }: Pick<Context, 'env' | 'platform'>,
): Promise<Found> {
  const windows = platform === 'win32';
  const isPath = name.includes('/') || (windows && name.includes('\\'));
  const folders = isPath ? [''] : (env.PATH ?? env.Path ?? USUAL).split(delimiter);
  // What is no program of its own there (.cmd, .bat) would need a shell to run it.
  const endings = windows ? ['', '.com', '.exe'] : [''];
  let status: 126 | 127 = 127;
  for (const folder of folders) {
    for (const ending of endings) {
      const file = isPath ? name + ending : join(folder || '.', name + ending);
      const kind = name === '' ? 'missing' : await kindOf(file);
      if (kind === 'program') return { file: isPath || folder ? file : `./${file}` };
      if (kind === 'other') status = 126;
    }
  }
  return { status };
}

async function kindOf(file: string): Promise<'program' | 'other' | 'missing'> {
  const found = await stat(file).catch(() => undefined);
  if (!found) return 'missing';
  const runs =
    found.isFile() &&
    (await access(file, constants.X_OK).then(
      () => true,
      () => false,
    ));
  return runs ? 'program' : 'other';
}

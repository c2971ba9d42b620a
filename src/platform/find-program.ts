import { constants } from 'node:fs';
import { access, open, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Context } from './context';

/** The path of a program, or the exit status of shells: 127 if it is not found, 126 if it cannot be run. */
type FoundProgram = { readonly file: string } | { readonly status: 126 | 127 };

/** The search path if PATH is not set; an empty PATH means the current folder. */
const DEFAULT_PATH = ['/usr/local/bin', '/usr/bin', '/bin'].join(delimiter);

/**
 * Looks for a program in the folders of `PATH`, unless its name is a path.
 * @param typed a person chose the name, which is found as execvp(3) does, also in the current folder; a program that
 *   pwpush itself chooses is in a folder with an absolute path
 */
export async function findProgram(
  name: string,
  { env, platform }: Pick<Context, 'env' | 'platform'>,
  typed = false,
): Promise<FoundProgram> {
  const windows = platform === 'win32';
  const isPath = name.includes('/') || (windows && name.includes('\\'));
  const search = (env.PATH ?? env.Path ?? DEFAULT_PATH).split(delimiter);
  const folders = isPath ? [''] : search.filter((folder) => typed || isAbsolute(folder));
  // .cmd and .bat files would need a shell to run them.
  const endings = windows ? ['', '.com', '.exe'] : [''];
  let status: 126 | 127 = 127;
  for (const folder of folders) {
    for (const ending of endings) {
      const file = isPath ? name + ending : join(folder || '.', name + ending);
      const kind = name === '' ? 'missing' : await kindOf(file, !windows);
      if (kind === 'program') return { file: isPath || folder ? file : `./${file}` };
      if (kind === 'other') status = 126;
    }
  }
  return { status };
}

/** @param scripts also check the interpreter of a script, which the kernel starts */
async function kindOf(file: string, scripts: boolean): Promise<'program' | 'other' | 'missing'> {
  const stats = await stat(file).catch(() => undefined);
  if (!stats) return 'missing';
  const runs = stats.isFile() && !(await access(file, constants.X_OK).catch(() => 'refused'));
  const interpreter = runs && scripts ? await interpreterOf(file) : undefined;
  const starts = interpreter === undefined || (await kindOf(interpreter, false)) === 'program';
  return runs && starts ? 'program' : 'other';
}

/** Kernels read at most this many bytes of the first line (execve(2)). */
const FIRST_LINE_BYTES = 512;

/** Returns the path after `#!`; undefined for other programs, and for files that may be executed but not read. */
async function interpreterOf(file: string): Promise<string | undefined> {
  const handle = await open(file).catch(() => undefined);
  try {
    const { buffer, bytesRead = 0 } = (await handle?.read(Buffer.alloc(FIRST_LINE_BYTES))) ?? {};
    return /^#![ \t]*([^ \t\n]+)/.exec(buffer?.toString('utf8', 0, bytesRead) ?? '')?.[1];
  } finally {
    await handle?.close();
  }
}

/**
 * Returns options of `spawn` for an external program: no PWPUSH_* variables, which may be secrets, and its own process
 * group (setsid), so that it can be ended as a whole, and Ctrl-C and the end of the terminal do not reach it.
 */
export function apart({ env, platform }: Pick<Context, 'env' | 'platform'>) {
  const theirs = Object.entries(env).filter(([name]) => !/^PWPUSH_/i.test(name));
  return { detached: platform !== 'win32', env: Object.fromEntries(theirs), windowsHide: true };
}

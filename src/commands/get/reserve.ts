import { rmdir, stat } from 'node:fs/promises';
import { reserveFile } from '../../secret/destination';
import type { GetOptions } from '../get';
import type { Place } from './place';

/**
 * What `--output` names: a folder for the files, made where it is missing, or a file for the text.
 * @throws CliError (usage)
 */
export async function reserve(
  output: string,
  { files, force }: Pick<GetOptions, 'files' | 'force'>,
): Promise<Place> {
  const made = files ? await folderAt(output) : undefined;
  if (made) return { folder: output, discard: () => removeFolders(made) };
  const file = await reserveFile(output, force);
  return { file, discard: file.discard };
}

/** For a folder, or what is spelled as one and can be made one, those that were made, innermost first. */
async function folderAt(path: string): Promise<readonly string[] | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found || !/[/\\]$/.test(path)) return found?.isDirectory() ? [] : undefined;
  const { foldersMissing, makeFolder } = await import('../../profile/folder');
  const missing = foldersMissing(path);
  makeFolder(path);
  return missing;
}

async function removeFolders(made: readonly string[]): Promise<void> {
  // Those that somebody put something into meanwhile stay.
  for (const one of made) await rmdir(one).catch(() => {});
}

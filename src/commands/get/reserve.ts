import { rmdir, stat } from 'node:fs/promises';
import { reserveFile, reserveText } from '../../delivery/destination';
import type { GetOptions } from '../get';
import type { Place } from './output-place';

/**
 * What `--output` names: a folder for text and files, made where it is missing, or a file for the text. With `--json`
 * the object goes to standard output, and only the files to the folder.
 * @throws CliError (usage)
 */
export async function reserve(
  output: string,
  { force, json }: Pick<GetOptions, 'force' | 'json'>,
): Promise<Place> {
  const made = await folderAt(output);
  if (!made) {
    const file = await reserveFile(output, force);
    return { file, discard: file.discard };
  }
  const discardFolders = () => removeFolders(made);
  if (json) return { folder: output, discard: discardFolders };
  const file = await reserveText(output, force);
  const discard = async () => {
    await file.discard();
    await discardFolders();
  };
  return { folder: output, file, discard };
}

/** For a folder, or what is spelled as one and can be made one, those that were made, innermost first. */
async function folderAt(path: string): Promise<readonly string[] | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found || !/[/\\]$/.test(path)) return found?.isDirectory() ? [] : undefined;
  const { foldersMissing, makeFolder } = await import('../../system/private-folder');
  const missing = foldersMissing(path);
  makeFolder(path);
  return missing;
}

async function removeFolders(made: readonly string[]): Promise<void> {
  // Those that somebody put something into meanwhile stay.
  for (const one of made) await rmdir(one).catch(() => {});
}

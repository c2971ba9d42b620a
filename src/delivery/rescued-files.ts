import { lstat, readdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { stateFolder } from '../profile/folders';
import { TEMPORARY, temporaryFolder, type World } from './rescue';

/** What lies where results are rescued to. */
export interface RescuedFile {
  readonly path: string;
  /** `files` is a folder of them. */
  readonly what: 'link' | 'secret' | 'text' | 'message' | 'answer' | 'files';
  readonly saved: Date;
  /** Bytes; undefined for a folder. */
  readonly size: number | undefined;
}

const NAME =
  /^(link|secret|text|message|answer|files)-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-[0-9a-f]{8}$/;

/** Lists the rescue files of this user, oldest first. What cannot be looked into counts as empty. */
export async function rescuedFiles(world: World): Promise<RescuedFile[]> {
  const temporary = temporaryFolder(world);
  const folders = (await names(temporary))
    .filter((name) => name.startsWith(TEMPORARY))
    .map((name) => join(temporary, name));
  const found: RescuedFile[] = [];
  for (const folder of [stateFolder(world), ...folders]) {
    for (const name of await names(folder)) {
      const what = NAME.exec(name)?.[1] as RescuedFile['what'] | undefined;
      if (what !== undefined) found.push(...(await look(join(folder, name), what)));
    }
  }
  return found.sort((one, other) => one.saved.getTime() - other.saved.getTime());
}

function names(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

/** In a folder that everybody may write to, what is somebody else's is none of ours. */
async function look(path: string, what: RescuedFile['what']): Promise<RescuedFile[]> {
  const found = await lstat(path).catch(() => undefined);
  const { uid } = userInfo();
  if (!found || (uid !== -1 && found.uid !== uid) || found.isDirectory() !== (what === 'files'))
    return [];
  const size = what === 'files' ? undefined : found.size;
  return [{ path, what, saved: found.mtime, size }];
}

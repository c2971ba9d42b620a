import { dirname, resolve } from 'node:path';
import type { Version } from '../client/file-link';
import type { PartialFile } from '../keep/interrupted-download';
import { claimBy, claimFile } from '../platform/claim';
import type { Context } from '../platform/context';
import { attempt, CliError } from '../platform/errors';
import { reopenFile, type TemporaryFile } from '../platform/files/atomic-file';
import { type User, whyForeign } from '../platform/files/owner';

export type PartialFiles = ReturnType<typeof partialFiles>;

/**
 * Keeps unfinished downloads of files that cannot be retrieved again, for another try or run.
 * @param left the parts of an earlier run
 * @param changed called when a part was added to `list`
 */
export function partialFiles(
  { pid, uid }: Context,
  left: readonly PartialFile[] = [],
  changed: () => Promise<unknown>,
) {
  const files = new Map(left.map((part) => [part.url, part]));
  return {
    claim: claimBy(pid),
    /** Lists the file of a download, with which another run continues if this one is killed. */
    begin: async (url: string, { left }: TemporaryFile, { tag, length }: Version = NONE) => {
      files.set(url, { url, path: resolve(left), tag, length });
      await changed();
    },
    /** Claims the part of a file in `folder`; removes a part that is of no use. */
    take: async (url: string, folder: string) => {
      const part = files.get(url);
      if (!part) return undefined;
      // The record of an interrupted download may be copied, but only one run may continue its parts.
      const file = await attempt(() => reopenFile(claimFile(part.path, pid), part.path));
      if (file instanceof CliError) return undefined;
      const { tag, length } = part;
      const received = await usableBytes(file, part, uid);
      if (received !== undefined && dirname(part.path) === resolve(folder))
        return { file, begun: { tag, length, received } };
      await file.discard();
      return undefined;
    },
    leave: async (file: TemporaryFile) => {
      if ((await file.handle.stat()).size === 0) await file.discard();
      else await file.leave();
    },
    list: () => [...files.values()],
  };
}

/** A download without a version begins again: its part is removed. */
const NONE: Version = { tag: '', length: 0 };

/** Returns undefined if another user can write to the part, or it is not a part of the file. */
async function usableBytes(
  { handle }: TemporaryFile,
  { length }: PartialFile,
  user: User,
): Promise<number | undefined> {
  const stats = await handle.stat();
  const ours = stats.isFile() && stats.nlink === 1 && whyForeign(stats, user) === undefined;
  return ours && stats.size > 0 && stats.size < length ? stats.size : undefined;
}

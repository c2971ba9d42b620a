import { existsSync, renameSync, rmSync } from 'node:fs';
import * as v from 'valibot';
import { type Push, retrievedSchema } from '../contract/decode';
import { jsonIn } from '../contract/json';
import { claimBy, claimFile, claimOf, unclaimed } from '../platform/claim';
import type { Context } from '../platform/context';
import { usageError } from '../platform/errors';
import { makeWhole } from '../platform/files/atomic-file';
import { isSystemError, whyUnreadable } from '../platform/files/file-error';
import type { User } from '../platform/files/owner';
import { readOwn } from '../platform/private-folder';
import { type RescueContext, rescue } from './rescue';

/** A download keeps the response of the instance, still encrypted, and the state of its files. */
const keptSchema = v.object({
  /** The link without its key. */
  link: v.string(),
  push: retrievedSchema(),
  saved: v.array(v.string()),
  answer: v.boolean(),
  /** Undefined for a file that went to standard output. */
  folder: v.optional(
    v.object({
      path: v.string(),
      force: v.boolean(),
      taken: v.array(v.string()),
      named: v.exactOptional(v.boolean()),
      name: v.optional(v.string()),
    }),
  ),
  partial: v.array(
    v.object({
      url: v.string(),
      path: v.pipe(v.string(), v.regex(/\.[0-9a-f]{12}\.part$/)),
      tag: v.string(),
      length: v.number(),
    }),
  ),
});

export type KeptDownload = v.InferOutput<typeof keptSchema>;

/** The temporary file with the part of a file that was received. */
export type PartialFile = KeptDownload['partial'][number];

const textOf = (kept: KeptDownload) => `${JSON.stringify(kept)}\n`;

/**
 * Saves a download in a rescue file, so that another run can finish it while the addresses of the files work, for some
 * minutes. Until `release`, the file belongs to this run, or to nobody if this run is killed.
 * @throws CliError (failed) if it cannot be saved
 */
export async function keepDownload(
  context: RescueContext & Pick<Context, 'pid'>,
  kept: KeptDownload,
): Promise<DownloadFile> {
  const claim = await rescue(context, 'download', textOf(kept), claimBy(context.pid));
  return downloadFile(unclaimed(claim), claim);
}

export type DownloadFile = ReturnType<typeof downloadFile>;

function downloadFile(path: string, claim: string) {
  return {
    path,
    update: (kept: KeptDownload) => makeWhole(claim, textOf(kept), true),
    remove: () => rmSync(claim, { force: true }),
    /** Gives the file back to other runs, unless it was removed, and returns its path. Never throws. */
    release: () => {
      try {
        if (existsSync(claim)) renameSync(claim, path);
        return path;
      } catch {
        // It is claimed until this process ends.
        return claim;
      }
    },
  };
}

/**
 * Reads what an interrupted `get` saved, and claims it for this run; call `file.release` at the end.
 * @param file may be the claim of a run that has ended
 * @param token the token in the link, which the saved push must have
 * @throws CliError (usage) if it cannot be read, is of another push, or another user made it or can write to it;
 * (failed) if another run has it
 */
export function claimKeptDownload(file: string, { pid, uid }: Context, token?: string) {
  const path = unclaimed(file);
  const { saved, folder, ...kept } = parse(path, uid);
  const { url_token } = kept.push;
  // An instance may return no token.
  if (token !== undefined && url_token && url_token !== token)
    throw usageError(`"${path}" is of another push`, 'use the link of that download, or none');
  return {
    ...kept,
    file: downloadFile(path, claimFile(path, pid)),
    folder: folder && { ...folder, taken: new Set(folder.taken) },
    rest: (opened: Push): Push => ({
      ...opened,
      payload: '',
      files: (opened.files ?? []).filter(({ url }) => !saved.includes(url)),
    }),
  };
}

export type BegunDownload = ReturnType<typeof claimKeptDownload>;

function parse(path: string, user: User): v.InferOutput<typeof keptSchema> {
  let text: string;
  try {
    text = readOwn(path, { user, what: 'the file', instead: 'use the one of an interrupted run' });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const claim = claimOf(path);
    if (claim !== undefined) return parse(claim, user);
    throw usageError(`cannot read "${path}": ${whyUnreadable(error)}`);
  }
  const { success, output } = v.safeParse(keptSchema, jsonIn(text));
  if (success) return output;
  throw usageError(
    `"${path}" was not kept by an interrupted pwpush get`,
    'the message of that run names the file; pwpush doctor lists such files',
  );
}

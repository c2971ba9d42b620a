import { readFileSync, rmSync } from 'node:fs';
import * as v from 'valibot';
import { type Push, retrievedSchema } from '../contract';
import { CliError, usageError } from '../errors';
import { whyUnreadable } from '../system/file-error';
import { count } from '../terminal/wording';
import { isRetrievableAgain } from './print-or-rescue';
import type { RetrievedPush } from './retrieve';

/** What `get --resume` reads: the response of the instance, still encrypted, and the addresses of the files that are saved. */
const keptSchema = v.object({ push: retrievedSchema, saved: v.array(v.string()) });

/**
 * The error of an interrupted download. If no view is left, the addresses of the files are kept in a rescue file: they
 * work for some minutes.
 * @param missing the addresses of the files that were not saved
 */
export async function interruptedDownload(
  { context, push, received = push }: RetrievedPush,
  missing: readonly string[],
): Promise<CliError> {
  if (missing.length === 0 || isRetrievableAgain(push))
    return new CliError('interrupted', 'interrupted');
  // The text was printed or saved before, and armor is needed to open the files.
  const files = received.files ?? [];
  const kept = {
    push: push.encrypted === true ? received : { ...received, payload: '' },
    saved: files.map(({ url }) => url).filter((url) => !missing.includes(url)),
  };
  try {
    const { rescue } = await import('./rescue');
    const path = await rescue(context, 'download', `${JSON.stringify(kept)}\n`);
    return new CliError(
      'interrupted',
      `no view is left, and ${count(missing.length, 'file')} not saved`,
      {
        hint: `within minutes, get the rest with the same link: pwpush get --resume '${path}' LINK`,
        remains: { saved_to: path },
      },
    );
  } catch (error) {
    const why = error instanceof CliError ? error.message : 'its links could not be kept';
    return new CliError('interrupted', `no view is left: ${why}`, {
      cause: error,
      remains: {},
    });
  }
}

/** A download that an interrupted `get` kept. */
export interface KeptDownload {
  readonly push: Push;
  /** The push without its text, and without the files that were saved. */
  rest(push: Push): Push;
  /** Removes the file; call it when the rest is saved. */
  remove(): void;
}

/**
 * Reads what an interrupted `get` kept.
 * @param token of the push that the link names
 * @throws CliError (usage) if it cannot be read, or is of another push
 */
export function readKeptDownload(path: string, token: string): KeptDownload {
  const { push, saved } = parse(path);
  if (push.url_token !== token)
    throw usageError(`"${path}" is of another push`, 'use the link that was interrupted');
  return {
    push,
    rest: (opened) => ({
      ...opened,
      payload: '',
      files: (opened.files ?? []).filter(({ url }) => !saved.includes(url)),
    }),
    remove: () => rmSync(path, { force: true }),
  };
}

function parse(path: string): v.InferOutput<typeof keptSchema> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw usageError(`cannot read "${path}": ${whyUnreadable(error)}`);
  }
  try {
    return v.parse(keptSchema, JSON.parse(text));
  } catch {
    throw usageError(
      `"${path}" was not kept by an interrupted pwpush get`,
      'the message of that run names the file; pwpush doctor lists such files',
    );
  }
}

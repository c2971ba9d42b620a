import { readFileSync, rmSync } from 'node:fs';
import * as v from 'valibot';
import { isArmored } from '../age/armored';
import { type Push, retrievedSchema } from '../contract';
import { CliError, joinHints, usageError } from '../errors';
import { whyUnreadable } from '../system/file-error';
import { count } from '../terminal/wording';
import { isRetrievableAgain, whyGone } from './retrievable';
import type { RetrievedPush } from './retrieve';

/** What `get --resume` reads: the response of the instance, still encrypted, and the addresses of the files that are saved. */
const keptSchema = v.object({
  push: retrievedSchema,
  saved: v.array(v.string()),
  /** It is the answer to a request. */
  answer: v.optional(v.boolean(), false),
});

/**
 * The error of a download that was interrupted or failed. If the push cannot be retrieved again, the addresses of the
 * files are kept in a rescue file: they work for some minutes.
 * @param missing the addresses of the files that were not saved
 * @param failure why not; left out, the run was interrupted
 */
export async function interruptedDownload(
  retrieved: RetrievedPush,
  missing: readonly string[],
  failure?: CliError,
): Promise<CliError> {
  const { context, push, received = push, answer, unsaved } = retrieved;
  const ended = failure ?? new CliError('interrupted', 'interrupted');
  if (missing.length === 0 || isRetrievableAgain(push)) return ended;
  if (unsaved) return unsaved(missing, ended);
  // The text was printed or saved before, and armor is needed to open the files.
  const files = received.files ?? [];
  const kept = {
    push: isArmored(received.payload ?? '') ? received : { ...received, payload: '' },
    saved: files.map(({ url }) => url).filter((url) => !missing.includes(url)),
    answer: answer !== undefined,
  };
  const gone = whyGone(retrieved);
  try {
    const { rescue } = await import('./rescue');
    const path = await rescue(context, 'download', `${JSON.stringify(kept)}\n`);
    const message = failure?.message ?? `${gone}, and ${count(missing.length, 'file')} not saved`;
    const rest = `within minutes, get the rest with the same link: pwpush get --resume '${path}' LINK`;
    return ended.with({
      message,
      hint: joinHints(failure?.hint, rest),
      remains: { saved_to: path },
    });
  } catch (error) {
    const why = error instanceof CliError ? error.message : 'its links could not be kept';
    const message = failure ? `${failure.message}; ${gone}: ${why}` : `${gone}: ${why}`;
    return ended.with({ message, cause: error, remains: {} });
  }
}

/** A download that an interrupted `get` kept. */
export interface KeptDownload {
  readonly push: Push;
  /** Whether it is the answer to a request. */
  readonly answer: boolean;
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
  const { push, saved, answer } = parse(path);
  // An instance may return no token.
  if (push.url_token && push.url_token !== token)
    throw usageError(`"${path}" is of another push`, 'use the link of that download');
  return {
    push,
    answer,
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

import { basename, resolve } from 'node:path';
import { boundedByInterrupt } from '../cli/terminal/bounded-write';
import { type Terminal, toJson } from '../cli/terminal/output';
import { forTerminal } from '../cli/terminal/safe';
import { reportSaved } from '../cli/terminal/wording';
import { CliError, failedError, phrase, savedTo } from '../platform/errors';
import { whyUnwritable } from '../platform/files/file-error';
import type { Retrieval } from '../take/retrieval';
import { drawing } from './deliver-link';
import type { Destination } from './destination';
import type { Place, PlacePlan } from './place';
import { printResult } from './print-result';
import type { SavedFile } from './save-file';
import { contentsOf, type Ways, waysOf } from './ways';

/**
 * Writes text and files of a push to their place, or saves what cannot be written. The text goes first, so that a
 * failing file cannot lose it; a JSON object goes last, as it says where the files are, and its text is held until then.
 * @returns the error, if anything failed
 */
export async function deliver(
  retrieval: Retrieval,
  place: Place,
  withFiles: boolean,
): Promise<CliError | undefined> {
  const { push, say, sealed, store } = retrieval;
  const { json } = say.manner;
  const contents = contentsOf(push, withFiles, json);
  const ways = waysOf(place.kind, contents, json);
  const hasText = contents.startsWith('text') && ways.files !== 'stdout';
  if (contents === 'none') await place.discard();
  else if (ways.text !== 'reserved' || !(json || hasText)) await place.text?.discard();
  const files =
    ways.files === 'nowhere'
      ? undefined
      : await (await import('./deliver-files')).filesTo(retrieval, place, ways);
  let to = ways.text === 'reserved' ? place.text : undefined;
  if (ways.text === 'beside' && (hasText || json)) to = await files?.reserveText();
  const write = (bytes: string) => writeText(retrieval, place.plan, to, bytes);
  const text = hasText && !json ? await write(push.payload ?? '') : undefined;
  const isHeld = json && files !== undefined && Boolean(push.payload);
  if (isHeld) await store.hold(retrieval);
  const { saved, failure } = (await files?.write()) ?? { saved: [] };
  const object = json ? await write(objectText(retrieval, saved)) : undefined;
  if (isHeld) await store.release(sealed);
  return both(text ?? object, failure) ?? remark(ways, push.files?.length, files?.path);
}

/** Returns the instance's JSON object with the paths of saved files. The payload of an answer is its `response`. */
function objectText(
  { answer, push }: Retrieval,
  saved: readonly (SavedFile | undefined)[],
): string {
  const saving = push.files?.map((file, index) => {
    const path = saved[index]?.path;
    return path === undefined ? file : { ...file, saved_as: resolve(path) };
  });
  const object = saving ? { ...push, files: saving } : push;
  const { payload, ...request } = object;
  return `${toJson(answer ? { ...request, response: payload } : object)}\n`;
}

function both(text: CliError | undefined, files: CliError | undefined): CliError | undefined {
  if (!text || !files) return text ?? files;
  const interrupted = files.exitStatus > 128;
  if (interrupted && !files.remains) return text;
  const paths = [text, files].flatMap(({ remains }) => remains?.saved_to ?? []);
  return text.with({
    facts: [...text.facts, ...files.facts],
    hints: [...files.hints, ...text.hints],
    remains: { ...text.remains, ...savedTo(paths) },
  });
}

/** Returns an error if the place was not used as a user may expect, though everything is saved. */
function remark({ but }: Ways, files = 0, folder = '.'): CliError | undefined {
  const where = folder === '.' ? 'the current folder' : folder;
  if (but === 'not-set') return failedError(phrase('nothing-set-in-job'));
  if (but === 'one-file-only') return failedError(phrase('output-takes-one-file', files, where));
  return but === 'is-terminal' ? failedError(phrase('output-is-terminal', where)) : undefined;
}

async function writeText(
  retrieval: Retrieval,
  plan: PlacePlan,
  to: Destination | undefined,
  bytes: string,
): Promise<CliError | undefined> {
  const { context, push, store } = retrieval;
  if (!to) return printText(retrieval, plan, bytes);
  try {
    const path = await boundedByInterrupt(to.commit(bytes), context.signal);
    if (path === undefined) return undefined;
    const name = to.inFolder?.name ?? basename(path);
    const wanted = basename(path) === name ? undefined : name;
    await reportSaved(retrieval, { path, bytes: Buffer.byteLength(bytes), wanted });
    return undefined;
  } catch (error) {
    const where = plan.to === 'path' ? `"${plan.path}"` : 'a file of the job';
    const why = phrase('place-unwritable', where, whyUnwritable(error));
    const failure = failedError(error instanceof CliError ? error.facts : why);
    return store.rescue(failure, { part: 'secret', bytes, push });
  }
}

async function printText(
  { context, push, say, store }: Retrieval,
  { to }: PlacePlan,
  bytes: string,
): Promise<CliError | undefined> {
  const secret = { part: 'secret', push } as const;
  const payload = push.payload ?? '';
  const why = payload === '' ? undefined : await context.guard?.();
  // `reservePlace` accepted a place that an agent could not read, which may no longer exist.
  if (why !== undefined)
    return store.rescue(failedError(phrase('text-not-printed', why)), {
      ...secret,
      bytes: payload,
    });
  const { json } = say.manner;
  const drawn = to === 'qr' && !json ? await drawnAsQr(say, bytes) : undefined;
  // A pipe gets the exact bytes; on a terminal control characters are made visible, and the line is ended.
  const shown = context.stdout.isTTY && !json ? forTerminal(bytes) : bytes;
  const failure = await printResult(context, drawn ?? shown);
  return failure && store.rescue(failure, { ...secret, bytes });
}

/** Returns undefined after a warning if the text is too long or the terminal too small. */
async function drawnAsQr(say: Terminal, text: string): Promise<string | undefined> {
  const { qrCode } = await drawing();
  const code = qrCode(text, await say.look());
  if ('drawing' in code) return code.drawing;
  await say.warn(code.problem);
  return undefined;
}

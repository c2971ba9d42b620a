import type { Push } from '../contract';
import { CliError } from '../errors';
import { boundedByInterrupt } from '../terminal/bounded-write';
import { toJson } from '../terminal/output';
import { savedText } from '../terminal/push-text';
import { forTerminal } from '../terminal/safe';
import { lookOf } from '../terminal/style';
import type { Destination } from './destination';
import type { OutputOptions, OutputPlace } from './output-place';
import { printOrRescue, rescueResult, retrievableAgain } from './print-or-rescue';
import type { RetrievedPush } from './retrieve';

/** A retrieved push and where it goes. */
export interface Delivery extends RetrievedPush {
  readonly options: OutputOptions;
  readonly place: OutputPlace;
}

/**
 * Writes the text of a push, or with `--json` the object, to where it goes, or saves it.
 * @param file the file for it, unless it goes to a CI job or the clipboard; stdout if left out
 */
export async function deliverText(
  delivery: Delivery,
  push: Push,
  file: Destination | undefined,
): Promise<CliError | undefined> {
  const { place, options, say } = delivery;
  const destination = place.job ?? place.clipboard ?? file;
  if (!destination) return printText(delivery, push);
  const bytes = options.json ? `${toJson(push)}\n` : (push.payload ?? '');
  const failure = await writeTo(delivery, destination, bytes);
  if (failure || destination.inFolder === undefined) return failure;
  await say.note(savedText(destination.inFolder, Buffer.byteLength(bytes), undefined));
  return undefined;
}

async function printText(delivery: Delivery, push: Push): Promise<CliError | undefined> {
  const { context, options } = delivery;
  const text = push.payload ?? '';
  const result = { what: 'secret', push, json: options.json } as const;
  if (options.json) return printOrRescue(context, { ...result, bytes: `${toJson(push)}\n` });
  const drawing = options.qr ? await qrDrawing(delivery, text) : undefined;
  if (drawing !== undefined)
    return printOrRescue(context, { ...result, bytes: drawing, saved: text });
  // Exact bytes in a pipe; on a terminal control characters are made visible, and the line is ended.
  const bytes = context.stdout.isTTY ? forTerminal(text) : text;
  return printOrRescue(context, { ...result, bytes });
}

/** The text as a QR code for stdout; undefined, with a warning, if it is too long or the terminal too small. */
async function qrDrawing(
  { context, options, say }: Delivery,
  text: string,
): Promise<string | undefined> {
  const { qrCode } = await import('../terminal/qr');
  const look = await lookOf(context.stdout, context.env, context.now(), options.color);
  const code = qrCode(text, look);
  if ('drawing' in code) return code.drawing;
  await say.warn(code.problem);
  return undefined;
}

async function writeTo(
  { context, options: { output }, push }: Delivery,
  destination: Destination,
  text: string,
): Promise<CliError | undefined> {
  try {
    await boundedByInterrupt(destination.commit(text), context.signal);
    return undefined;
  } catch (error) {
    const problem =
      error instanceof CliError
        ? error.message
        : `${output ?? 'a file of the job'} cannot be written (${(error as NodeJS.ErrnoException).code})`;
    const failure = await rescueResult(context, text, 'secret', problem, push);
    // The status is that of bad input for a text that the job cannot hold, if nothing was lost by it.
    const bad = error instanceof CliError && error.code === 'usage' && output === undefined;
    if (!bad || !(failure.remains?.saved_to ?? retrievableAgain(push))) return failure;
    const hint = [error.hint, failure.hint].filter((one) => one !== undefined).join('; ');
    return failure.with({ code: 'usage', hint });
  }
}

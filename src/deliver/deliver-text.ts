import { basename } from 'node:path';
import { whyHidden } from '../cli/agent';
import { boundedByInterrupt } from '../cli/terminal/bounded-write';
import { toJson } from '../cli/terminal/output';
import { forTerminal } from '../cli/terminal/safe';
import { savedText } from '../cli/terminal/wording';
import type { Push } from '../contract/decode';
import { CliError, failedError } from '../platform/errors';
import { whyUnwritable } from '../platform/files/file-error';
import type { Taken, Taking } from '../take/taking';
import { drawing } from './deliver-link';
import type { Destination } from './destination';
import type { Place } from './place';
import { printOrRescue } from './print-or-rescue';

/** A push that was taken, and the place that it goes to. */
export interface Delivery extends Taking {
  readonly place: Place;
}

/**
 * Writes the text of a push, or with `--json` the object, to where it goes, or saves it.
 * @param to standard output if left out
 */
export async function deliverText(
  delivery: Delivery,
  push: Push,
  to: Destination | undefined,
): Promise<CliError | undefined> {
  if (!to) return printText(delivery, push);
  const { json } = delivery.say.manner;
  const bytes = json ? `${toJson(jsonOf(delivery.taken, push))}\n` : (push.payload ?? '');
  return writeTo(delivery, to, bytes);
}

/** The object of the instance: an answer is the `response` of its request. */
function jsonOf({ answer }: Taken, push: Push): object {
  if (!answer) return push;
  const { payload, ...request } = push;
  return { ...request, response: payload };
}

async function printText(delivery: Delivery, push: Push): Promise<CliError | undefined> {
  const { context, place, safe, say } = delivery;
  const { json } = say.manner;
  const text = push.payload ?? '';
  const why = text === '' ? undefined : await whyHidden(context);
  if (why !== undefined) {
    // It was for a folder that is gone, or the like.
    await safe.keep({ what: 'secret', bytes: text, push });
    return safe.explain(failedError(`the text is not printed: ${why}`));
  }
  const result = { what: 'secret', push, json } as const;
  if (json)
    return printOrRescue(delivery, {
      ...result,
      bytes: `${toJson(jsonOf(delivery.taken, push))}\n`,
    });
  const drawing = place.plan.to === 'qr' ? await qrDrawing(delivery, text) : undefined;
  if (drawing !== undefined)
    return printOrRescue(delivery, { ...result, bytes: drawing, saved: text });
  // Exact bytes in a pipe; on a terminal control characters are made visible, and the line is ended.
  const bytes = context.stdout.isTTY ? forTerminal(text) : text;
  return printOrRescue(delivery, { ...result, bytes });
}

/** The text as a QR code for stdout; undefined, with a warning, if it is too long or the terminal too small. */
async function qrDrawing({ say }: Delivery, text: string): Promise<string | undefined> {
  const { qrCode } = await drawing();
  const code = qrCode(text, await say.look());
  if ('drawing' in code) return code.drawing;
  await say.warn(code.problem);
  return undefined;
}

async function writeTo(
  { context, place: { plan }, safe, say, taken: { push } }: Delivery,
  destination: Destination,
  bytes: string,
): Promise<CliError | undefined> {
  try {
    const path = await boundedByInterrupt(destination.commit(bytes), context.signal);
    if (path === undefined) return undefined;
    const name = destination.inFolder?.name ?? basename(path);
    const wanted = basename(path) === name ? undefined : name;
    await say.note(savedText(path, Buffer.byteLength(bytes), wanted));
    return undefined;
  } catch (error) {
    const where = plan.to === 'path' ? `"${plan.path}"` : 'a file of the job';
    const problem =
      error instanceof CliError ? error.facts : `cannot write ${where} (${whyUnwritable(error)})`;
    await safe.keep({ what: 'secret', bytes, push });
    return safe.explain(failedError(problem));
  }
}

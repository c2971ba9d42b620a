import { boundedWrite, breakLine } from '../cli/terminal/bounded-write';
import type { Push } from '../contract/decode';
import type { Safe } from '../keep/safekeeping';
import type { Output } from '../platform/context';
import { type CliError, failedError } from '../platform/errors';
import { codeOf, whyUnwritable } from '../platform/files/file-error';
import type { SafeRun } from '../take/taking';

/** A result that must not be lost. */
export interface Result {
  readonly bytes: string | Uint8Array;
  /** Saved instead of `bytes` when stdout fails. */
  readonly saved?: string;
  readonly what: 'link' | 'secret';
  /** May be printed on stderr when stdout fails; a secret may not. */
  readonly link?: string;
  /** The push that a secret is from: if that can be retrieved again, nothing is saved. */
  readonly push?: Push;
  /** Errors are printed as JSON, so the link goes into the error. */
  readonly json: boolean;
}

/** A safe that is seldom needed may be one that is made then. */
type Delivery = Pick<SafeRun, 'context'> & { readonly safe: Safe | (() => Promise<Safe>) };

/**
 * Writes a result to stdout; if that fails a link to stderr, and if that fails too, or for a secret, it is kept.
 * Never throws, so that the caller can print what is left to say: it returns the error.
 */
export async function printOrRescue(
  delivery: Delivery,
  result: Result,
): Promise<CliError | undefined> {
  const { stdout, stderr, signal } = delivery.context;
  const { bytes } = result;
  const failure = await tryWrite(stdout, bytes, signal);
  const partlyWritten = failure !== 'closed' && failure !== 'EPIPE';
  if (partlyWritten && !stdout.isTTY && !endsLine(bytes)) breakLine(stderr);
  return failure === undefined ? undefined : rescued(delivery, result, failure);
}

async function rescued(
  { context, safe }: Delivery,
  result: Result,
  failure: string,
): Promise<CliError | undefined> {
  const { stdout, stderr, signal } = context;
  const { bytes, saved = bytes, what, link } = result;
  const problem = `cannot write to standard output (${whyUnwritable(failure)})`;
  const kept = async () => {
    const { keep, explain } = typeof safe === 'function' ? await safe() : safe;
    await keep({ what, bytes: saved, push: result.push });
    return explain(failedError(problem));
  };
  if (link === undefined || stderr.closed) return kept();
  if (result.json) return failedError(`${problem}; the link is ${link}`, { remains: { link } });
  if ((await tryWrite(stderr, `${link}\n`, signal)) !== undefined) return kept();
  // A stdout that was closed before we started looks like one sent to /dev/null on purpose.
  if (stdout.closed) return undefined;
  return failedError(`${problem}; the link was printed here instead`);
}

function endsLine(bytes: string | Uint8Array): boolean {
  return bytes.length === 0 || Buffer.from(bytes.slice(-1) as Uint8Array)[0] === 0x0a;
}

/** Writes, and returns the code of the error if that failed. */
async function tryWrite(
  output: Output,
  data: string | Uint8Array,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await boundedWrite(output, data, signal);
    return undefined;
  } catch (error) {
    return codeOf(error) ?? 'error';
  }
}

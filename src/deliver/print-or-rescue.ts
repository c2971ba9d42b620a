import { boundedWrite, breakLine } from '../cli/terminal/bounded-write';
import type { Push } from '../contract/decode';
import type { RescueStore } from '../keep/rescue-store';
import type { Context, Output } from '../platform/context';
import { type CliError, failedError, phrase } from '../platform/errors';
import { codeOf, whyUnwritable } from '../platform/files/file-error';

/** A result that must not be lost. */
interface Result {
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
  /** Where it is kept; made when it is needed, if left out. */
  readonly store?: RescueStore;
}

/**
 * Writes a result to stdout; if that fails a link to stderr, and if that fails too, or for a secret, it is kept.
 * Never throws, so that the caller can print what is left to say: it returns the error.
 */
export async function printOrRescue(
  context: Context,
  result: Result,
): Promise<CliError | undefined> {
  const { stdout, stderr, signal } = context;
  const { bytes } = result;
  const failure = await tryWrite(stdout, bytes, signal);
  const partlyWritten = failure !== 'closed' && failure !== 'EPIPE';
  if (partlyWritten && !stdout.isTTY && !endsLine(bytes)) breakLine(stderr);
  return failure === undefined ? undefined : rescued(context, result, failure);
}

/** As `printOrRescue`, for lines, in one write: if that fails, each is rescued. Returns the errors by place. */
export async function printLinesOrRescue(
  context: Context,
  lines: readonly (Result & { readonly bytes: string })[],
): Promise<readonly (CliError | undefined)[]> {
  const { stdout, signal } = context;
  const failure = await tryWrite(stdout, lines.map(({ bytes }) => bytes).join(''), signal);
  const errors: (CliError | undefined)[] = [];
  if (failure === undefined) return errors;
  for (const line of lines) errors.push(await rescued(context, line, failure));
  return errors;
}

async function rescued(
  context: Context,
  result: Result,
  code: string,
): Promise<CliError | undefined> {
  const { stdout, stderr, signal } = context;
  const { bytes, saved = bytes, what: part, link, push } = result;
  const problem = phrase('output-failed', whyUnwritable(code));
  const kept = async () => {
    const { RescueStore } = await import('../keep/rescue-store');
    const store = result.store ?? new RescueStore(context);
    return store.rescue(failedError(problem), { part, bytes: saved, push });
  };
  if (link === undefined || stderr.closed) return kept();
  if (result.json) return failedError([problem, phrase('link-is', link)], { remains: { link } });
  if ((await tryWrite(stderr, `${link}\n`, signal)) !== undefined) return kept();
  // A stdout that was closed before we started looks like one sent to /dev/null on purpose.
  if (stdout.closed) return undefined;
  return failedError([problem, phrase('link-is-here')]);
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

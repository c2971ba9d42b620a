import { boundedWrite, breakLine } from '../cli/terminal/bounded-write';
import type { Push } from '../contract/decode';
import type { RescueStore } from '../keep/rescue-store';
import type { Context, Output } from '../platform/context';
import { type CliError, failedError, phrase } from '../platform/errors';
import { codeOf, whyUnwritable } from '../platform/files/file-error';

interface Result {
  readonly part: 'link' | 'secret';
  readonly bytes: string;
  /** Saved instead of `bytes` when stdout fails. */
  readonly saved?: string | undefined;
  /** May be printed on stderr when stdout fails; a secret may not. */
  readonly link?: string;
  /** Errors are printed as JSON, so the link goes into the error. */
  readonly json?: boolean;
  /** The push that a secret is from: if that can be retrieved again, nothing is saved. */
  readonly push?: Push;
  readonly store?: RescueStore;
}

/**
 * Writes a result to stdout; if that fails a link to stderr, and if that fails too, or for a secret, it is kept.
 * Never throws, so that the caller can print what is left to say: it returns the error.
 */
export async function printOrRescue(
  context: Context,
  { part, bytes, saved = bytes, link, json, push, store }: Result,
): Promise<CliError | undefined> {
  const { stdout, stderr, signal } = context;
  const code = await tryWrite(stdout, bytes, signal);
  const isPartlyWritten = code !== 'closed' && code !== 'EPIPE' && !stdout.isTTY;
  if (isPartlyWritten && bytes !== '' && !bytes.endsWith('\n')) breakLine(stderr);
  if (code === undefined) return undefined;
  const problem = phrase('stdout-unwritable', whyUnwritable(code));
  if (link !== undefined && !stderr.closed) {
    if (json) return failedError([problem, phrase('link-is', link)], { remains: { link } });
    if ((await tryWrite(stderr, `${link}\n`, signal)) === undefined)
      // A stdout that was closed before we started looks like one sent to /dev/null on purpose.
      return stdout.closed ? undefined : failedError([problem, phrase('link-is-here')]);
  }
  const { RescueStore } = await import('../keep/rescue-store');
  const text = { part, bytes: saved, push };
  return (store ?? new RescueStore(context)).rescue(failedError(problem), text);
}

/** Returns the code of the error if writing failed. */
async function tryWrite(
  output: Output,
  data: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await boundedWrite(output, data, signal);
    return undefined;
  } catch (error) {
    return codeOf(error) ?? 'error';
  }
}

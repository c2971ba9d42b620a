import type { Context, Output } from '../context';
import type { Push } from '../contract';
import { CliError } from '../errors';
import { breakLine, writePatiently } from '../terminal/bounded-write';
import { rescued } from './rescued';

/** A result that must not be lost. */
export interface Result {
  readonly bytes: string | Uint8Array;
  /** What is saved in their place where they cannot be written. */
  readonly saved?: string;
  readonly what: 'link' | 'secret';
  /** The link, which may be shown on stderr where stdout fails; a secret may not. */
  readonly link?: string;
  /** That a secret is of; see `rescued`. */
  readonly push?: Push;
  /** Errors are told as JSON, so the link goes into the error. */
  readonly json: boolean;
}

/**
 * Gets a result to stdout; if that fails a link to stderr, and if that fails too, or for a secret, to a rescue
 * file. Never throws, so that what is left to say can be said: the error comes back.
 */
export async function deliver(context: Context, result: Result): Promise<CliError | undefined> {
  const { stdout, stderr, signal } = context;
  const { bytes, saved = bytes, what } = result;
  const trouble = stdout.closed ? 'closed' : await attempt(stdout, bytes, signal);
  const shown = trouble !== 'closed' && trouble !== 'EPIPE';
  if (shown && !stdout.isTTY && !endsLine(bytes)) breakLine(stderr);
  if (trouble === undefined) return undefined;
  const problem = `standard output cannot be written (${trouble})`;
  if (result.link === undefined || stderr.closed)
    return rescued(context, saved, what, problem, result.push);
  if (result.json)
    return new CliError('failed', `${problem}; the link is ${result.link}`, {
      remains: { link: result.link },
    });
  const said = await attempt(stderr, `${result.link}\n`, signal);
  if (said !== undefined) return rescued(context, saved, what, problem);
  // A standard output that was closed before we started looks like one sent to /dev/null on purpose.
  if (stdout.closed) return undefined;
  return new CliError('failed', `${problem}; the link was printed here instead`);
}

function endsLine(bytes: string | Uint8Array): boolean {
  return bytes.length === 0 || Buffer.from(bytes.slice(-1) as Uint8Array)[0] === 0x0a;
}

/** The code of what went wrong, or undefined; a write that a full pipe holds up ends after the signal. */
async function attempt(
  output: Output,
  data: string | Uint8Array,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await writePatiently(output, data, signal);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'error';
  }
}

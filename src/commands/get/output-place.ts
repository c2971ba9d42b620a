import type { Context } from '../../context';
import type { Destination } from '../../delivery/destination';
import { usageError } from '../../errors';
import type { GetOptions } from '../get';
import type { Copying } from './copy';

const ciOptions = ['githubOutput', 'githubEnv', 'gitlabDotenv', 'as', 'only', 'allow'] as const;

/** Where a push goes to: what `--output` names, as far as it can be made sure of before it is known whether files come. */
export interface Place {
  readonly folder?: string;
  readonly file?: Destination;
  /** Files of a CI job. */
  readonly job?: Destination;
  readonly clipboard?: Copying;
  /** Leaves nothing behind of what was made for it. */
  discard?(): Promise<void>;
}

/** @throws CliError (usage) for places that cannot be, or that contradict each other; nothing was fetched then */
export async function placeFor(options: GetOptions, context: Context): Promise<Place> {
  const { output, force, json } = options;
  checkQr(options);
  if (ciOptions.some((name) => options[name] !== undefined)) {
    if (output !== undefined || json || options.copy || options.qr)
      throw usageError(
        'the text goes to the CI job, and not to another place too',
        'leave out --output, --copy, --qr and --json',
      );
    const { ciDestination } = await import('../../delivery/ci-job');
    const job = await ciDestination(options, context);
    return job ? { job, discard: job.discard } : {};
  }
  if (options.copy || options.clearAfter !== undefined) {
    const { copying } = await import('./copy');
    return { clipboard: await copying(context, options) };
  }
  if (output === undefined || output === '-') return {};
  const { reserve } = await import('./reserve');
  return reserve(output, { force, json });
}

/** A drawing is for somebody's eyes, and instead of the text. */
function checkQr({ qr, json, copy, output = '' }: GetOptions): void {
  const other = json ? '--json' : copy ? '--copy' : output === '' ? undefined : '--output';
  if (qr && other) throw usageError(`--qr does not go with ${other}`, 'leave one out');
}

import { statSync } from 'node:fs';
import { refuseToPrint } from '../cli/agent';
import type { Context } from '../platform/context';
import type { User } from '../platform/files/owner';
import type { CiOptions } from './ci-job';
import { isStream } from './destination';

interface PlaceOptions extends CiOptions {
  readonly json: boolean;
  readonly output?: string;
  readonly files: boolean;
  readonly copy: boolean;
  readonly resume?: string;
}

/**
 * Refuses places where an agent would read a text: standard output, terminals and open files.
 * @throws CliError (usage)
 */
export async function refusePrinted(
  context: Context,
  options: PlaceOptions,
  instead: string,
): Promise<void> {
  if (isPrinted(options, context.uid)) await refuseToPrint(context, 'the secret', instead);
  else if (options.json && printsObject(options))
    await refuseToPrint(context, 'the secret', 'remove --json');
}

function isPrinted(options: PlaceOptions, user: User): boolean {
  const { output = '-', copy, resume, githubOutput, githubEnv } = options;
  // Masking prints it.
  if ((githubOutput ?? githubEnv) !== undefined) return true;
  // With --resume the text was written before, and the rest is files.
  const nowhere = copy || (resume !== undefined && options.output === undefined);
  return !nowhere && isStream(output, user);
}

/** Whether the object goes to standard output, as it does with a folder, which a file becomes for a push with files. */
function printsObject({ output = '-', files, resume }: PlaceOptions): boolean {
  if (resume !== undefined) return false;
  const isFolder = statSync(output, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return files || isFolder || /[/\\]$/.test(output);
}

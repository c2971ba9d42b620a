import type { Values } from '../cli/declare';
import type { fileRows } from '../cli/options';
import {
  checkStandardInput,
  chooseSource,
  type Purpose,
  readSecret,
  type Source,
  type SourceOptions,
} from '../cli/source';
import type { Invocation } from '../cli/terminal/output';
import type { Attachment } from '../client/form';
import type { Context } from '../platform/context';
import { usageError } from '../platform/errors';

/** The options for what is to be sent: a text from one source, or files and a message. */
export type ContentOptions = SourceOptions & Values<ReturnType<typeof fileRows>>;

/**
 * Where the text comes from; undefined with files.
 * @throws CliError (usage) for two sources, or none if the user cannot be asked
 */
export function contentSource(
  options: ContentOptions & Parameters<typeof checkStandardInput>[0],
  { stdin, canPrompt }: Context,
  purpose?: Purpose,
): Source | undefined {
  const attached = options.file !== undefined;
  // With files, standard input is not a source, and nothing is asked.
  const source = chooseSource(options, attached || stdin.isTTY, attached || canPrompt(), purpose);
  if (attached && source.name !== 'prompt')
    throw usageError(
      'a secret from another source cannot be combined with --file',
      'add a text to the files with --message TEXT',
    );
  const reads = attached ? options.file.includes('-') : source.name === 'stdin';
  checkStandardInput(options, reads ? 'the secret' : undefined);
  return attached ? undefined : source;
}

/** @throws CliError (usage) for options of files without files, and for an empty message */
export function checkFiles({ file, message, filename }: ContentOptions): void {
  if (file !== undefined) {
    if (message === '') throw usageError('the message is empty', 'remove --message');
    return;
  }
  if (message !== undefined)
    throw usageError(
      '--message requires --file',
      'pipe in a text without files, or give it as [text]',
    );
  if (filename !== undefined) throw usageError('--filename requires --file -');
}

/**
 * Opens the files, if there are any.
 * @throws CliError (usage) as `openAttachments` does
 */
export async function openFiles({ file, filename }: ContentOptions, context: Context) {
  if (file === undefined) return undefined;
  const { openAttachments } = await import('./attachments');
  return openAttachments(file, filename, context);
}

/**
 * Reads the text, or the message that goes with the files; the sender sees a generated one.
 * @param source undefined with files
 */
export async function readText(
  { context, say }: Invocation,
  source: Source | undefined,
  options: ContentOptions,
  purpose?: Purpose,
): Promise<string | undefined> {
  if (!source) return options.message;
  const text = await readSecret(source, options, context, purpose);
  if (source.name === 'generate') await say.remark(`generated: ${text}`);
  return text;
}

/**
 * Sends something with its files, if it has any, and shows their progress.
 * @throws what `send` throws
 */
export async function sendWithFiles<T>(
  run: Invocation,
  files: readonly Attachment[] | undefined,
  send: (files: readonly Attachment[]) => Promise<T>,
): Promise<T> {
  if (files === undefined || files.length === 0) return send([]);
  const { sendFiles } = await import('./attachments');
  return sendFiles(run, files, send);
}

import { beforeSending } from '../cli/ask-until';
import { asReported } from '../cli/in-words';
import { type Content, type Purpose, readSecret, type Source } from '../cli/source';
import { folded } from '../cli/terminal/bounded-write';
import type { Entry } from '../cli/terminal/output';
import type { Attachment } from '../client/form';
import type { Context } from '../platform/context';
import { CliError, phrase } from '../platform/errors';

/** A text does without it, which takes 4 ms to load. */
const attachments = () => import('./attachments');

/**
 * Opens the files of a content or a request, if it has any, until they were sent.
 * @throws CliError (usage) as `openAttachments` does
 */
export async function openFiles(
  { files, filename }: Pick<Content, 'files'> & { readonly filename?: string | undefined },
  context: Context,
) {
  if (files === undefined) return { files, close: async () => {} };
  return (await attachments()).openAttachments(files, filename, context);
}

/**
 * Reads the text of a content, or the message that goes with its files.
 * @param isShown whether the sender sees a text that is generated; else a command gets it, and standard input
 * @throws CliError (usage) for what cannot be read
 */
export async function readText(
  content: Content,
  entry: Entry,
  purpose?: Purpose,
  isShown = true,
): Promise<string | undefined> {
  if (!('text' in content)) return content.message;
  const { from, leavesInput } = content.text;
  if (leavesInput && isShown) await warnOfInput(entry, from.name);
  const text = await readSecret(content.text, entry.context, purpose);
  if (from.name === 'generate' && isShown)
    await entry.say.remark(`generated: ${text}  (-q hides it)`);
  return text;
}

/**
 * Warns of a file on standard input that the line does not read. Of a pipe nobody can know whether it has anything, and a file
 * that was read from before is that of a loop around us.
 */
async function warnOfInput({ context: { stdin }, say }: Entry, from: Source['name']) {
  if (stdin.file?.()?.start !== 0) return;
  const { stdinFile } = await import('../platform/file-bytes');
  if (((await stdinFile(stdin))?.size ?? 0) === 0) return;
  const used = from === 'text' ? 'the text argument' : `--${from === 'file' ? 'from' : from}`;
  await say.warn(`standard input is not used: the secret comes from ${used}`);
}

/** What was typed is nowhere else: where nothing was sent, the user is asked whether to try again. */
async function sendTyped<T>({ context, say }: Entry, send: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!context.hasAsked() || !(error instanceof CliError) || context.signal.aborted)
        throw error;
      if (error.code !== 'unreachable' && error.code !== 'rate_limited') throw error;
      const text = await asReported(error);
      await say.draw(() => folded(text, context.stderr));
      const { confirm } = await context.prompter();
      const again = await beforeSending(() => confirm('Try again with what you typed?', true));
      context.asked();
      if (!again) throw new CliError(error.code, phrase('nothing-sent'), { cause: error });
    }
  }
}

/**
 * Sends something with its files, if it has any, and shows their progress.
 * @throws what `send` throws
 */
export async function sendWithFiles<T>(
  entry: Entry,
  files: readonly Attachment[] | undefined,
  send: (files: readonly Attachment[]) => Promise<T>,
): Promise<T> {
  if (files === undefined || files.length === 0) return sendTyped(entry, () => send([]));
  const { sendFiles } = await attachments();
  return sendFiles(entry, files, send);
}

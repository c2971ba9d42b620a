import { beforeSending } from '../cli/ask-until';
import { words } from '../cli/in-words';
import { type Content, type Purpose, readSecret } from '../cli/source';
import { folded } from '../cli/terminal/bounded-write';
import type { Entry } from '../cli/terminal/output';
import type { Attachment } from '../client/form';
import type { Context } from '../platform/context';
import { CliError, phrase } from '../platform/errors';

/** A push of a text does not need this module, which takes 4 ms to load. */
const attachments = () => import('./attachments');

/**
 * Call `close` after the files were sent.
 * @throws CliError (usage) as `openAttachments` does
 */
export async function openFiles({ files }: Pick<Content, 'files'>, context: Context) {
  if (files === undefined) return { files, close: async () => {} };
  return (await attachments()).openAttachments(files, context);
}

/**
 * Reads the text of a content, or the message that is sent with its files.
 * @param isShown whether the sender sees a generated text; otherwise a command gets the text and standard input
 * @throws CliError (usage) for what cannot be read
 */
export async function readText(
  content: Content,
  entry: Entry,
  purpose?: Purpose,
  isShown = true,
): Promise<string | undefined> {
  if (!('text' in content)) return content.message;
  const { from } = content.text;
  const text = await readSecret(content.text, entry.context, purpose);
  if (from.name === 'generate' && isShown)
    await entry.say.remark(`generated: ${text}  (-q hides it)`);
  return text;
}

/** Asks whether to try again if nothing was sent, as a typed text exists nowhere else. */
async function sendTyped<T>({ context, say }: Entry, send: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!context.hasAsked() || !(error instanceof CliError) || context.signal.aborted)
        throw error;
      if (error.code !== 'unreachable' && error.code !== 'rate_limited') throw error;
      const { failureText } = await words();
      const text = failureText(error, { json: false, debug: false });
      await say.draw(() => folded(text, context.stderr));
      const { confirm } = await context.prompter();
      const isRetry = await beforeSending(() => confirm('Try again with what you typed?', true));
      context.releaseTerminal();
      if (!isRetry) throw new CliError(error.code, phrase('nothing-sent'), { cause: error });
    }
  }
}

/** Shows the progress of files. */
export async function sendWithFiles<T>(
  entry: Entry,
  files: readonly Attachment[] | undefined,
  send: (files: readonly Attachment[]) => Promise<T>,
): Promise<T> {
  if (files === undefined || files.length === 0) return sendTyped(entry, () => send([]));
  const { sendFiles } = await attachments();
  return sendFiles(entry, files, send);
}

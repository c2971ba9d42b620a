import { beforeSending } from '../cli/ask-until';
import { asReported } from '../cli/in-words';
import { type Content, type Purpose, readSecret, type Source } from '../cli/source';
import { folded } from '../cli/terminal/bounded-write';
import type { Entry } from '../cli/terminal/output';
import type { Attachment } from '../client/form';
import type { Context } from '../platform/context';
import { CliError, phrase } from '../platform/errors';

/** 4 ms, which a text does without. */
const attachments = () => import('./attachments');

/** What is sent, read: a text or message, and open files. */
interface OpenContent {
  /** The text, or the message that goes with the files. */
  readonly text: string | undefined;
  readonly files: readonly Attachment[] | undefined;
  /** Whether the text was typed for it. */
  readonly typed: boolean;
}

interface Reading<Before> {
  /** Of a text. */
  readonly purpose?: Purpose;
  /** Whether the sender sees a text that is generated; true if left out. Else a command gets it, and standard input. */
  readonly shown?: boolean;
  /** Called before the text is read; gets whether there are files. */
  before(attached: boolean): Promise<Before>;
}

/**
 * Opens the files of a content, does what comes before its text is read, and works with all of that.
 * @throws CliError (usage) for what cannot be read; what `before` and `work` throw
 */
export async function withContent<T, Before>(
  run: Entry,
  content: Content,
  { purpose, shown = true, before }: Reading<Before>,
  work: (content: OpenContent, before: Before) => Promise<T>,
): Promise<T> {
  const { context, say } = run;
  if ('text' in content) {
    const done = await before(false);
    const { from, leavesInput } = content.text;
    if (leavesInput && shown) await warnOfInput(run, from.name);
    const text = await readSecret(content.text, context, purpose);
    if (from.name === 'generate' && shown) await say.remark(`generated: ${text}  (-q hides it)`);
    return work({ text, files: undefined, typed: from.name === 'prompt' }, done);
  }
  return withFiles(context, content.files, content.filename, async (files) => {
    const done = await before(true);
    return work({ text: content.message, files, typed: false }, done);
  });
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

/**
 * Opens files, if there are any, works with them, and closes them.
 * @param filename names standard input
 * @throws CliError (usage) as `openAttachments` does; what `work` throws
 */
export async function withFiles<T>(
  context: Context,
  paths: readonly string[] | undefined,
  filename: string | undefined,
  work: (files: readonly Attachment[] | undefined) => Promise<T>,
): Promise<T> {
  if (paths === undefined) return work(undefined);
  const { openAttachments } = await attachments();
  const { files, close } = await openAttachments(paths, filename, context);
  try {
    return await work(files);
  } finally {
    await close();
  }
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
  run: Entry,
  files: readonly Attachment[] | undefined,
  send: (files: readonly Attachment[]) => Promise<T>,
): Promise<T> {
  if (files === undefined || files.length === 0) return sendTyped(run, () => send([]));
  const { sendFiles } = await attachments();
  return sendFiles(run, files, send);
}

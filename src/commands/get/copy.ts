import type { Context } from '../../context';
import type { Push } from '../../contract';
import { type Clipboard, copiedText, findClipboard } from '../../delivery/clipboard';
import type { Destination } from '../../delivery/destination';
import { deliver } from '../../delivery/print-or-rescue';
import { CliError, endedBy, usageError } from '../../errors';
import { type Terminal, terminal } from '../../terminal/output';
import { forTerminal } from '../../terminal/safe';
import type { GetOptions } from '../get';

/** The clipboard as the place of a text. */
export interface Copying extends Destination {
  /** Makes sure that the text got there, and clears it when its time is over. */
  afterwards(push: Push): Promise<void>;
}

/** @throws CliError (usage) when there is no clipboard, or another place is named too */
export async function copying(context: Context, options: GetOptions): Promise<Copying> {
  const { copy, clearAfter, output, json } = options;
  if (!copy) throw usageError('--clear-after goes with --copy');
  if (output !== undefined || json)
    throw usageError(
      'the text goes to the clipboard, and not to another place too',
      'leave out --output and --json',
    );
  const clipboard = await findClipboard(context);
  if (!clipboard)
    throw usageError(
      'there is no clipboard to copy to; nothing was fetched',
      'it takes wl-copy, xclip, xsel, pbcopy or clip.exe, or a terminal',
    );
  const say = terminal(context, options);
  let copied: string | undefined;
  return {
    commit: async (bytes) => {
      const text = bytes.toString();
      if (!(await clipboard.write(text)))
        throw new CliError('failed', `${clipboard.name} did not take it`);
      copied = text;
      await say.note(copiedText(clipboard));
    },
    discard: async () => {},
    afterwards: async (push) => {
      if (copied === undefined) return say.note('there was no text to copy');
      const lost = push.views_remaining === 0 && !clipboard.sure && context.canPrompt();
      if (lost && !(await arrived(context))) return printed(context, copied, push);
      if (clearAfter !== undefined)
        await clearAfterwards(context, say, clipboard, copied, clearAfter);
    },
  };
}

/** A terminal does not answer, and nobody can have the text a second time. */
async function arrived(context: Context): Promise<boolean> {
  const prompter = await context.prompter();
  const question = 'That was the last view. Is it on your clipboard? (no prints it here)';
  return prompter.confirm(question, true).finally(context.asked);
}

async function printed(context: Context, text: string, push: Push): Promise<void> {
  const bytes = context.stdout.isTTY ? forTerminal(text) : text;
  const trouble = await deliver(context, { bytes, what: 'secret', push, json: false });
  if (trouble) throw trouble;
}

/** Waits in the foreground; a signal ends the waiting, not the clearing. What somebody else copied since stays. */
async function clearAfterwards(
  context: Context,
  say: Terminal,
  clipboard: Clipboard,
  text: string,
  seconds: number,
): Promise<void> {
  const late = context.signal.aborted;
  if (!late) {
    context.takeSignals();
    await say.note(`it is cleared in ${seconds} s; Control-C clears it at once`);
    // Rejected by the signal.
    await context.sleep(seconds * 1000).catch(() => {});
  }
  if (clipboard.read && (await clipboard.read()) !== text)
    await say.note('the clipboard holds something else by now, and was left alone');
  else if (await clipboard.clear()) await say.note('the clipboard was cleared');
  else throw new CliError('failed', `${clipboard.name} could not be cleared`);
  if (!late && context.signal.aborted) throw endedBy(context.signal);
}

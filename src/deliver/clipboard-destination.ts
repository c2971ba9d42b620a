import { refuseToPrint } from '../cli/agent';
import type { Entry } from '../cli/terminal/output';
import { forTerminal } from '../cli/terminal/safe';
import { copiedText, findClipboard } from '../platform/clipboard';
import { failedError, phrase, usageError } from '../platform/errors';
import type { Destination } from './destination';
import { printResult } from './print-result';

/** @throws CliError (usage) if there is no clipboard */
export async function clipboardDestination({ context, say }: Entry): Promise<Destination> {
  const clipboard = await findClipboard(context);
  if (!clipboard)
    throw usageError('no clipboard found; nothing was fetched', phrase('clipboard-programs'));
  if (!clipboard.sure) await refuseToPrint(context, 'the secret', 'not-by-terminal');
  let copied: string | undefined;
  return {
    commit: async (bytes) => {
      const text = bytes.toString();
      if (!(await clipboard.write(text))) throw failedError(phrase('not-copied', clipboard.name));
      copied = text;
      await say.note(copiedText(clipboard));
      return undefined;
    },
    discard: async () => {},
    finish: async ({ push, store }) => {
      if (copied === undefined) return say.note('no text to copy');
      const unsure = push.views_remaining === 0 && !clipboard.sure && context.canPrompt();
      if (!unsure) return;
      // A terminal does not confirm OSC 52, and after the last view the text cannot be retrieved again.
      const prompter = await context.prompter();
      const question = 'That was the last view. Is it on your clipboard? (no prints it here)';
      if (await prompter.confirm(question, true).finally(context.releaseTerminal)) return;
      const bytes = context.stdout.isTTY ? forTerminal(copied) : copied;
      const failure = await printResult(context, bytes);
      if (failure) throw await store.rescue(failure, { part: 'secret', bytes: copied, push });
    },
  };
}

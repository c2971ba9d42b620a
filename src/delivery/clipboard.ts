import type { Context } from '../context';
import { programClipboard } from './clipboard-programs';
import { terminalClipboard } from './clipboard-terminal';

/** Where text is put for a person to paste. */
export interface Clipboard {
  /** As a person calls it. */
  readonly name: string;
  /** Whether it is known that a text got there. */
  readonly sure: boolean;
  /** Answers whether it was taken, as far as that is known. */
  write(text: string): Promise<boolean>;
  /** What it holds, as text; left out where nobody tells. */
  read?(): Promise<string | undefined>;
  /** Answers whether it is empty, or holds something harmless, as far as that is known. */
  clear(): Promise<boolean>;
}

/**
 * The clipboard of whoever sits before this run: on another machine, over ssh, the terminal's; here the
 * desktop's, or else the terminal's.
 */
export async function findClipboard(context: Context): Promise<Clipboard | undefined> {
  const { SSH_TTY, SSH_CONNECTION } = context.env;
  const ways = [programClipboard, terminalClipboard];
  if (SSH_TTY || SSH_CONNECTION) ways.reverse();
  for (const way of ways) {
    const found = await way(context);
    if (found) return found;
  }
  return undefined;
}

/** What was done, for a person. */
export function copiedText({ name, sure }: Clipboard): string {
  return `${sure ? 'copied' : 'sent'} to ${name}`;
}

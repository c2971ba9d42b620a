import type { Context } from '../context';
import type { Clipboard } from './clipboard';
import { ask, feed } from './helper-program';
import { MOST_BYTES, osc52 } from './osc52';

/** The clipboard of the terminal, wherever that is: tmux hands a text on to it, or an escape sequence does. */
export async function terminalClipboard(context: Context): Promise<Clipboard | undefined> {
  const { env, stdout, stderr } = context;
  const terminal = [stderr, stdout].find(({ isTTY }) => isTTY);
  if (!terminal || env.TERM === 'dumb') return undefined;
  if (env.TMUX && (await ask(context, ['tmux', 'list-buffers'])) !== undefined)
    return tmuxClipboard(context);
  const send = (text: string) => terminal.write(osc52(text, env));
  return {
    name: "the terminal's clipboard (OSC 52)",
    sure: false,
    write: async (text) => {
      if (Buffer.byteLength(text) > MOST_BYTES) return false;
      await send(text);
      return true;
    },
    // What clears it differs; that it takes another text is what they have in common.
    clear: async () => {
      await send(' ');
      return true;
    },
  };
}

/** A buffer of tmux, which is pasted from there, and handed on to the terminal unless set-clipboard is off. */
function tmuxClipboard(context: Context): Clipboard {
  let copied = '';
  const tmux = (...words: string[]) => ask(context, ['tmux', ...words]);
  return {
    name: "a buffer of tmux and its terminal's clipboard",
    sure: true,
    write: async (text) => {
      copied = text;
      // Before tmux 3.2 there is no -w, and the terminal hears nothing of it.
      const told = await feed(context, ['tmux', 'load-buffer', '-w', '-'], text);
      return told || feed(context, ['tmux', 'load-buffer', '-'], text);
    },
    clear: async () => {
      const names = (await tmux('list-buffers', '-F', '#{buffer_name}')) ?? '';
      for (const name of names.split('\n').filter((one) => one !== '')) {
        if ((await tmux('show-buffer', '-b', name)) === copied)
          await tmux('delete-buffer', '-b', name);
      }
      await tmux('set-buffer', '-w', '-b', 'pwpush', ' ');
      return (await tmux('delete-buffer', '-b', 'pwpush')) !== undefined;
    },
  };
}

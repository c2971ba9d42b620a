import type { Context } from '../context';
import type { Clipboard } from './clipboard';
import { findProgram } from './find-program';
import { ask, feed, type Words } from './helper-program';

interface Tool {
  readonly write: Words;
  readonly read?: Words;
  /** Left out where an empty text does. */
  readonly clear?: Words;
  /** Where it is the one to use. */
  applies(context: Context): boolean;
  /** The text as it wants to read it; UTF-8 when left out. */
  encode?(text: string): Uint8Array;
}

/** Each reads the text on its standard input: what stands among the arguments, everybody can read. */
const tools: readonly Tool[] = [
  {
    write: ['pbcopy'],
    read: ['pbpaste'],
    applies: ({ platform }) => platform === 'darwin',
  },
  {
    write: ['clip.exe'],
    applies: ({ platform, env }) => platform === 'win32' || Boolean(env.WSL_DISTRO_NAME),
    // It takes the console's code page, or UTF-16 where it finds that; ASCII is the same in all of the former.
    encode: (text) =>
      Buffer.from(text, Buffer.byteLength(text) === text.length ? 'latin1' : 'utf16le'),
  },
  {
    // Without the type it would guess one by the content.
    write: ['wl-copy', '--type', 'text/plain'],
    read: ['wl-paste', '--no-newline'],
    clear: ['wl-copy', '--clear'],
    applies: ({ env }) => Boolean(env.WAYLAND_DISPLAY),
  },
  {
    write: ['xclip', '-selection', 'clipboard', '-in'],
    read: ['xclip', '-selection', 'clipboard', '-out'],
    applies: ({ env }) => Boolean(env.DISPLAY),
  },
  {
    write: ['xsel', '--clipboard', '--input'],
    read: ['xsel', '--clipboard', '--output'],
    clear: ['xsel', '--clipboard', '--clear'],
    applies: ({ env }) => Boolean(env.DISPLAY),
  },
];

/** The desktop's clipboard, by the first program there is for it. */
export async function programClipboard(context: Context): Promise<Clipboard | undefined> {
  for (const tool of tools) {
    if (!tool.applies(context)) continue;
    if ('file' in (await findProgram(tool.write[0], context))) return clipboardOf(tool, context);
  }
  return undefined;
}

function clipboardOf({ write, read, clear, encode }: Tool, { env, platform }: Context): Clipboard {
  // pbcopy takes the locale's encoding, which is not set in every shell.
  const world = { platform, env: platform === 'darwin' ? { ...env, LC_CTYPE: 'UTF-8' } : env };
  return {
    name: `the clipboard (${write[0]})`,
    sure: true,
    write: (text) => feed(world, write, encode?.(text) ?? text),
    ...(read ? { read: () => ask(world, read) } : {}),
    clear: () => feed(world, clear ?? write, ''),
  };
}

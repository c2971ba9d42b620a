import { spawn } from 'node:child_process';
import type { Context, Environment } from './context';
import { apart, findProgram } from './find-program';
import { isDumb } from './surroundings';

// This file replaces clipboardy, which lacks OSC 52, tmux and ssh, and passes PWPUSH_* variables to the program.

interface Clipboard {
  readonly name: string;
  /** True if `write` knows that the text arrived: a terminal does not confirm OSC 52. */
  readonly sure: boolean;
  write(text: string): Promise<boolean>;
}

/** Finds a clipboard. Over ssh the terminal's comes first, as the user is at another machine; else the desktop's. */
export async function findClipboard(context: Context): Promise<Clipboard | undefined> {
  const { SSH_TTY, SSH_CONNECTION } = context.env;
  const kinds = [programClipboard, terminalClipboard];
  if (SSH_TTY || SSH_CONNECTION) kinds.reverse();
  for (const kind of kinds) {
    const clipboard = await kind(context);
    if (clipboard) return clipboard;
  }
  return undefined;
}

export function copiedText({ name, sure }: Clipboard): string {
  return `${sure ? 'copied' : 'sent'} to ${name}`;
}

interface ClipboardProgram {
  /** The program reads the text from standard input, as other users can read its arguments. */
  readonly words: ProgramWords;
  /** The program is used on these platforms, or if one of these variables is set. */
  readonly where: readonly string[];
  encode?(text: string): Uint8Array;
}

const programs: readonly ClipboardProgram[] = [
  { words: ['pbcopy'], where: ['darwin'] },
  {
    words: ['clip.exe'],
    where: ['win32', 'WSL_DISTRO_NAME'],
    // clip.exe expects the console's code page, or UTF-16 if it detects that; ASCII is the same in every code page.
    encode: (text) =>
      Buffer.from(text, Buffer.byteLength(text) === text.length ? 'latin1' : 'utf16le'),
  },
  // Without a type, wl-copy guesses one from the content.
  { words: ['wl-copy', '--type', 'text/plain'], where: ['WAYLAND_DISPLAY'] },
  { words: ['xclip', '-selection', 'clipboard', '-in'], where: ['DISPLAY'] },
  { words: ['xsel', '--clipboard', '--input'], where: ['DISPLAY'] },
];

export async function programClipboard(context: ProgramContext): Promise<Clipboard | undefined> {
  const { platform, starting } = context;
  for (const { words, where, encode } of programs) {
    const applies = where.some((name) => name === platform || context.env[name]);
    if (!applies || !('file' in (await findProgram(words[0], context)))) continue;
    // pbcopy expects the locale's encoding, and not every shell sets a locale.
    const env = { ...context.env, ...(words[0] === 'pbcopy' ? { LC_CTYPE: 'UTF-8' } : {}) };
    return {
      name: `the clipboard (${words[0]})`,
      sure: true,
      write: (text) => feed({ env, platform, starting }, words, encode?.(text) ?? text),
    };
  }
  return undefined;
}

/** The terminal may be on another machine: tmux or an escape sequence reaches its clipboard. */
async function terminalClipboard(context: Context): Promise<Clipboard | undefined> {
  const { env, stdout, stderr } = context;
  const terminal = [stderr, stdout].find(({ isTTY }) => isTTY);
  if (!terminal || isDumb(env)) return undefined;
  const tmux = (words: readonly string[], text = '') => feed(context, ['tmux', ...words], text);
  if (env.TMUX && (await tmux(['list-buffers'])))
    return {
      // With -w, tmux 3.2 also passes its buffer on to the terminal, unless set-clipboard is off.
      name: 'the clipboard (through tmux)',
      sure: true,
      write: async (text) =>
        (await tmux(['load-buffer', '-w', '-'], text)) || tmux(['load-buffer', '-'], text),
    };
  return {
    name: "the terminal's clipboard (OSC 52)",
    sure: false,
    write: async (text) => {
      if (Buffer.byteLength(text) > MOST_BYTES) return false;
      await terminal.write(osc52(text, env));
      return true;
    },
  };
}

/** In bytes: some terminals silently drop longer texts. */
const MOST_BYTES = 74_994;
/** Characters that GNU Screen passes on in one string (screen(1), "STRING ESCAPES"). */
const SCREEN_AT_ONCE = 512;

/** Returns the sequence (ctlseqs, OSC 52) that copies a text to the terminal's clipboard, also from tmux or screen. */
export function osc52(text: string, env: Environment): string {
  const sequence = `\u001b]52;c;${Buffer.from(text, 'utf8').toString('base64')}\u0007`;
  // tmux acts on the bare sequence with set-clipboard on, and passes the wrapped one on with allow-passthrough on.
  if (env.TMUX)
    return `${sequence}\u001bPtmux;${sequence.replaceAll('\u001b', '\u001b\u001b')}\u001b\\`;
  if (!env.STY) return sequence;
  const pieces = sequence.match(new RegExp(`[^]{1,${SCREEN_AT_ONCE}}`, 'g')) ?? [];
  return pieces.map((piece) => `\u001bP${piece}\u001b\\`).join('');
}

type ProgramWords = readonly [string, ...string[]];
type ProgramContext = Pick<Context, 'env' | 'platform' | 'starting'>;

const LIMIT_MS = 5000;

/** Returns whether the program succeeded, without waiting for a child of it that owns an X selection. */
async function feed(
  context: ProgramContext,
  [name, ...words]: ProgramWords,
  input: string | Uint8Array,
): Promise<boolean> {
  const program = await findProgram(name, context);
  if (!('file' in program)) return false;
  const stdio: ['pipe', 'ignore', 'ignore'] = ['pipe', 'ignore', 'ignore'];
  const { file } = program;
  const settings = { ...apart(context), stdio, timeout: LIMIT_MS };
  const child = context.starting(() => spawn(file, words, settings));
  // The program may end before it has read everything (EPIPE).
  child.stdin.on('error', () => {}).end(input);
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}

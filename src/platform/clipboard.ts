import { type StdioOptions, spawn } from 'node:child_process';
import type { Context, Environment } from './context';
import { apart, findProgram } from './find-program';

// Our own, not clipboardy: that knows neither OSC 52, tmux nor ssh, cannot clear, passes PWPUSH_* variables to the
// program, and brings 51 packages.

/** Where text is put for the user to paste. */
export interface Clipboard {
  readonly name: string;
  /** Whether `write` knows that the text arrived. */
  readonly sure: boolean;
  /** Returns whether the text was taken, as far as that is known. */
  write(text: string): Promise<boolean>;
  /** Its content as text; left out if it cannot be read. */
  read?(): Promise<string | undefined>;
  /** Returns whether it is empty or holds something harmless now, as far as that is known. */
  clear(): Promise<boolean>;
}

/**
 * The user's clipboard: over ssh, which means on another machine, the terminal's; otherwise the desktop's, or else the
 * terminal's.
 */
export async function findClipboard(context: Context): Promise<Clipboard | undefined> {
  const { SSH_TTY, SSH_CONNECTION } = context.env;
  const kinds = [programClipboard, terminalClipboard];
  if (SSH_TTY || SSH_CONNECTION) kinds.reverse();
  for (const kind of kinds) {
    const found = await kind(context);
    if (found) return found;
  }
  return undefined;
}

export function copiedText({ name, sure }: Clipboard): string {
  return `${sure ? 'copied' : 'sent'} to ${name}`;
}

/** A program for the desktop's clipboard. */
interface ClipboardProgram {
  readonly write: ProgramWords;
  readonly read?: ProgramWords;
  /** Left out if writing an empty text clears it. */
  readonly clear?: ProgramWords;
  applies(context: Context): boolean;
  /** UTF-8 if left out. */
  encode?(text: string): Uint8Array;
}

/** Each reads the text on its standard input: other users can read arguments. */
const programs: readonly ClipboardProgram[] = [
  {
    write: ['pbcopy'],
    read: ['pbpaste'],
    applies: ({ platform }) => platform === 'darwin',
  },
  {
    write: ['clip.exe'],
    applies: ({ platform, env }) => platform === 'win32' || Boolean(env.WSL_DISTRO_NAME),
    // It expects the console's code page, or UTF-16 if it detects that; ASCII is the same in every code page.
    encode: (text) =>
      Buffer.from(text, Buffer.byteLength(text) === text.length ? 'latin1' : 'utf16le'),
  },
  {
    // Without a type it guesses one from the content.
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

/** The desktop's clipboard, by the first program that is installed. */
export async function programClipboard(context: Context): Promise<Clipboard | undefined> {
  for (const program of programs) {
    if (!program.applies(context)) continue;
    if ('file' in (await findProgram(program.write[0], context)))
      return clipboardOf(program, context);
  }
  return undefined;
}

function clipboardOf(
  { write, read, clear, encode }: ClipboardProgram,
  { env, platform }: Context,
): Clipboard {
  // pbcopy expects the locale's encoding, and not every shell sets a locale.
  const world = { platform, env: platform === 'darwin' ? { ...env, LC_CTYPE: 'UTF-8' } : env };
  return {
    name: `the clipboard (${write[0]})`,
    sure: true,
    write: (text) => feedProgram(world, write, encode?.(text) ?? text),
    ...(read ? { read: () => runProgram(world, read) } : {}),
    clear: () => feedProgram(world, clear ?? write, ''),
  };
}

/** The clipboard of the terminal, which may be on another machine: reached by tmux or an escape sequence. */
async function terminalClipboard(context: Context): Promise<Clipboard | undefined> {
  const { env, stdout, stderr } = context;
  const terminal = [stderr, stdout].find(({ isTTY }) => isTTY);
  if (!terminal || env.TERM === 'dumb') return undefined;
  if (env.TMUX && (await runProgram(context, ['tmux', 'list-buffers'])) !== undefined)
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
    // Terminals differ in what clears it; all take another text.
    clear: async () => {
      await send(' ');
      return true;
    },
  };
}

/** A buffer of tmux, which also passes it on to the terminal unless set-clipboard is off. */
function tmuxClipboard(context: Context): Clipboard {
  let copied = '';
  const tmux = (...words: string[]) => runProgram(context, ['tmux', ...words]);
  return {
    name: 'the clipboard (through tmux)',
    sure: true,
    write: async (text) => {
      copied = text;
      // -w, which passes it on to the terminal, needs tmux 3.2.
      const loaded = await feedProgram(context, ['tmux', 'load-buffer', '-w', '-'], text);
      return loaded || feedProgram(context, ['tmux', 'load-buffer', '-'], text);
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

/** Bytes of a text that terminals are known to take; some silently drop longer ones. */
const MOST_BYTES = 74_994;
/** Characters that GNU Screen passes on in one string (screen(1), "STRING ESCAPES"). */
const SCREEN_AT_ONCE = 512;

/** The escape sequence that puts a text on the terminal's clipboard (ctlseqs, OSC 52), also from within tmux or screen. */
export function osc52(text: string, env: Environment): string {
  const sequence = `\u001b]52;c;${Buffer.from(text, 'utf8').toString('base64')}\u0007`;
  // tmux acts on the bare one with set-clipboard on, and passes the other on with allow-passthrough on.
  if (env.TMUX)
    return `${sequence}\u001bPtmux;${sequence.replaceAll('\u001b', '\u001b\u001b')}\u001b\\`;
  if (!env.STY) return sequence;
  const pieces = sequence.match(new RegExp(`[^]{1,${SCREEN_AT_ONCE}}`, 'g')) ?? [];
  return pieces.map((piece) => `\u001bP${piece}\u001b\\`).join('');
}

/** A program and its arguments. */
type ProgramWords = readonly [string, ...string[]];
type ProgramContext = Pick<Context, 'env' | 'platform'>;

/** A program is ended after this time. */
const LIMIT_MS = 5000;

async function feedProgram(
  context: ProgramContext,
  words: ProgramWords,
  input: string | Uint8Array,
): Promise<boolean> {
  return (await runProgram(context, words, input)) !== undefined;
}

/**
 * Runs a program and returns its output, which is not read where it gets an input; undefined if it is not installed or
 * fails. A child of it that stays in the background, as those do that own an X selection, is not waited for then.
 */
async function runProgram(
  context: ProgramContext,
  [name, ...words]: ProgramWords,
  input?: string | Uint8Array,
): Promise<string | undefined> {
  const found = await findProgram(name, context);
  if (!('file' in found)) return undefined;
  const [stdin, stdout, end] =
    input === undefined
      ? (['ignore', 'pipe', 'close'] as const)
      : (['pipe', 'ignore', 'exit'] as const);
  const stdio: StdioOptions = [stdin, stdout, 'ignore'];
  const child = spawn(found.file, words, { ...apart(context), stdio, timeout: LIMIT_MS });
  // It may end before it has read everything: EPIPE.
  child.stdin?.on('error', () => {}).end(input);
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk) => chunks.push(chunk));
  return new Promise((resolve) => {
    child.once('error', () => resolve(undefined));
    child.once(end, (code) =>
      resolve(code === 0 ? Buffer.concat(chunks).toString('utf8') : undefined),
    );
  });
}

/*
 * What a command prints. The result, and nothing else, goes to stdout: JSON with --json, a text made for the terminal
 * or for a pipe otherwise. Everything else goes to stderr: notes, which --quiet and --json leave out; remarks, which are
 * notes for a person watching; announcements and warnings, which always appear; and errors, which `report-error.ts`
 * prints. Text from elsewhere is made harmless here. A stderr that fails or blocks loses its text, never the result.
 */
import type { Context } from '../context';
import { isLoopback } from '../loopback';
import type { GlobalOptions } from '../options';
import { boundedWrite } from './bounded-write';
import { forLog, safe, safeJson } from './safe';
import { columnsOf, type Look, lookOf } from './style';

/** What a command says and how. */
export interface Terminal {
  /** The result: JSON with `--json`, else what `render` makes of it for stdout. */
  print(value: unknown, render: (look: Look) => string): Promise<void>;
  /** Text for stdout as it is. */
  printText(text: string): Promise<void>;
  /** Not with `--quiet` or `--json`. */
  note(text: string): Promise<void>;
  /** A note that appears only on a terminal. */
  remark(text: string): Promise<void>;
  /** A line that appears even with `--quiet`. */
  announce(text: string): Promise<void>;
  /** A line marked as a warning, a JSON line with `--json`; appears even with `--quiet`. */
  warn(text: string): Promise<void>;
  /** Only with `--debug`. */
  debug(text: string): Promise<void>;
  /** Lines for stderr as they are, such as a QR code. */
  draw(render: (look: Look) => string): Promise<void>;
}

/** One run of the program, as the rooms below the commands see it. */
export interface Invocation {
  readonly context: Context;
  readonly options: GlobalOptions;
  readonly say: Terminal;
}

export function invocation(context: Context, options: GlobalOptions): Invocation {
  return { context, options, say: terminal(context, options) };
}

const WARNING = 'warning: ';

export function terminal(context: Context, options: GlobalOptions): Terminal {
  const { stdout, stderr, env } = context;
  const look = (output: Context['stdout']) => lookOf(output, env, context.now(), options.color);
  // A stderr that is gone or blocked is ignored: the result matters more.
  const write = (text: string) =>
    boundedWrite(stderr, forLog(text, env), context.signal).catch(() => {});
  const line = async (text: string, head = '') => {
    const shown = head + safe(text);
    const columns = columnsOf(stderr);
    if (columns === undefined) return `${shown}\n`;
    const { fold } = await import('./fold');
    return `${fold(shown, columns)}\n`;
  };
  const note = async (text: string) => {
    if (!options.quiet && !options.json) await write(await line(text));
  };
  return {
    print: async (value, render) =>
      stdout.write(options.json ? `${toJson(value)}\n` : forLog(render(await look(stdout)), env)),
    printText: (text) => stdout.write(text),
    note,
    remark: async (text) => {
      if (stderr.isTTY) await note(text);
    },
    announce: async (text) => write(await line(text)),
    warn: async (text) => {
      if (options.json) return write(`${toJson({ warning: { message: text } })}\n`);
      const whole = await line(text, WARNING);
      const { paint } = await look(stderr);
      await write(paint('yellow', WARNING.trimEnd()) + whole.slice(WARNING.length - 1));
    },
    debug: async (text) => {
      if (options.debug) await write(`debug: ${safe(text)}\n`);
    },
    draw: async (render) => write(render(await look(stderr))),
  };
}

/** JSON of an object of the instance: unknown fields are kept, `passphrase` is always removed. */
export function toJson(value: unknown): string {
  const hidden = (key: string, field: unknown) => (key === 'passphrase' ? undefined : field);
  try {
    return safeJson(JSON.stringify(value, hidden));
  } catch {
    // Nested too deep for JSON.stringify. The fields of a push that we know are flat, and must not be lost.
    return safeJson(JSON.stringify(flat(value), hidden));
  }
}

function flat(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(
    ([, field]) => typeof field !== 'object' || field === null,
  );
  return Object.fromEntries(fields);
}

/**
 * Draws a link as a QR code on stderr, or says why it cannot. The link is repeated below the code, since a terminal of
 * 24 lines scrolls the first one away. Says so if the address works on this machine only: a phone would reach itself.
 */
export async function drawQr(say: Terminal, link: string): Promise<void> {
  const { qrCode } = await import('./qr');
  let problem: string | undefined;
  await say.draw((look) => {
    const code = qrCode(link, look);
    if ('drawing' in code) return code.drawing;
    problem = code.problem;
    return '';
  });
  await (problem === undefined ? say.remark(link) : say.announce(problem));
  if (isLoopback(new URL(link).hostname))
    await say.announce('only this machine reaches that address');
}

import type { Context } from '../context';
import { isLoopback } from '../loopback';
import type { GlobalOptions } from '../options';
import { writePatiently } from './bounded-write';
import { forLog, safe, safeJson } from './safe';
import { type Look, lookOf } from './style';

/** What a command says and how: made once a run from the context and the global options. */
export interface Terminal {
  /** The result: JSON with `--json`, otherwise what `render` makes of it for stdout. */
  print(value: unknown, render: (look: Look) => string): Promise<void>;
  /** Text for stdout as it is. */
  printText(text: string): Promise<void>;
  /** Something for a person, on stderr; not with `--quiet` or `--json`. */
  note(text: string): Promise<void>;
  /** The same, only when somebody is watching. */
  remark(text: string): Promise<void>;
  /** A line that must be there even with `--quiet`. */
  tell(text: string): Promise<void>;
  /** Something that must not be missed: said even with `--quiet`. */
  warn(text: string): Promise<void>;
  debug(text: string): Promise<void>;
  /** Lines for stderr as they are, such as a QR code. */
  draw(render: (look: Look) => string): Promise<void>;
}

export function terminal(context: Context, options: GlobalOptions): Terminal {
  const { stdout, stderr, env } = context;
  const look = (output: Context['stdout']) => lookOf(output, env, context.now(), options.color);
  // Nobody reads these when stderr is gone or held up; the result matters more.
  const say = (text: string) =>
    writePatiently(stderr, forLog(text, env), context.signal).catch(() => {});
  const line = (text: string) => say(`${safe(text)}\n`);
  const note = async (text: string) => {
    if (!options.quiet && !options.json) await line(text);
  };
  return {
    print: async (value, render) =>
      stdout.write(options.json ? `${toJson(value)}\n` : forLog(render(await look(stdout)), env)),
    printText: (text) => stdout.write(text),
    note,
    tell: line,
    remark: async (text) => {
      if (stderr.isTTY) await note(text);
    },
    warn: async (text) => {
      if (options.json) return say(`${toJson({ warning: { message: text } })}\n`);
      const { paint } = await look(stderr);
      await say(`${paint('yellow', 'warning:')} ${safe(text)}\n`);
    },
    debug: async (text) => {
      if (options.debug) await say(`debug: ${safe(text)}\n`);
    },
    draw: async (render) => say(render(await look(stderr))),
  };
}

/** Machine output of an instance's object: unknown fields kept, `passphrase` always removed. */
export function toJson(value: unknown): string {
  const hidden = (key: string, field: unknown) => (key === 'passphrase' ? undefined : field);
  try {
    return safeJson(JSON.stringify(value, hidden));
  } catch {
    // Nested too deep to be written. What we know of a push is flat, and must not get lost over the rest.
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
 * Draws a link as a QR code on stderr, or says why not; the encoder is loaded for it. Below the code stands the link
 * once more: a terminal of 24 lines has no room for what stood above. A phone that scans a loopback address reaches
 * itself, so that is said.
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
  await (problem === undefined ? say.remark(link) : say.tell(problem));
  if (isLoopback(new URL(link).hostname)) await say.tell('only this machine reaches that address');
}

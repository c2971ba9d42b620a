import type { Context, Environment, Output } from '../../platform/context';
import type { CliError, Fact, Hint } from '../../platform/errors';
import { isDumb, isUtf8 } from '../../platform/surroundings';
import { isGuarded } from '../agent';
import { inWords, words } from '../in-words';
import { boundedWrite, folded } from './bounded-write';
import { forLog, safe, safeJson } from './safe';

// The output policy of the program. Standard output carries the result and nothing else: a link, a secret, a listing.
// Everything else goes to standard error: notes, hints, warnings, errors, questions, progress, QR codes. The result
// matters more: a write to standard error that fails is ignored, unless it was to show a link.
// On a terminal a listing is a table with relative times; in a pipe, tab-separated lines with ISO 8601 times. Messages
// are single lines, which are folded at words for a terminal.
// --quiet drops notes and progress; warnings, errors and announcements remain. --json makes the result JSON, and each
// warning or error one line of JSON on standard error, without notes. --debug adds a line per HTTP request, no secrets.
// Colour is for terminals (NO_COLOR, FORCE_COLOR, --no-color, TERM=dumb) and never the only sign of anything.
// Text that came from outside has its control characters made visible on both streams, and in JSON escaped; in the log
// of a CI job, commands to the runner are made harmless too. Only a secret that goes to a pipe or a file is untouched.

export interface Manner {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
  readonly debug: boolean;
}

type Said = Fact | CliError;

export interface Terminal {
  readonly manner: Manner;
  look(): Promise<Look>;
  /** Prints the result: JSON with `--json`, else what `render` makes of it for stdout. */
  print(value: unknown, render: (look: Look) => string): Promise<void>;
  printText(text: string): Promise<void>;
  note(what: Said): Promise<void>;
  /** Prints lines of facts as notes: in columns on a terminal, with tabs in a pipe. */
  notes(render: (look: Look) => string): Promise<void>;
  /** Only a terminal gets a remark. */
  remark(what: Said): Promise<void>;
  announce(what: Said): Promise<void>;
  /** @param hint what to do about it */
  warn(what: Said, hint?: Hint): Promise<void>;
  /** Only a terminal gets advice. */
  advise(hint: Hint): Promise<void>;
  debug(text: string): Promise<void>;
  /** Lines such as a QR code go to stderr unchanged. */
  draw(render: (look: Look) => string): Promise<void>;
}

export interface Entry {
  readonly context: Context;
  readonly say: Terminal;
}

export function entryOf(context: Context, manner: Manner): Entry {
  const { stdout, stderr, env } = context;
  const { json, quiet, color, debug } = manner;
  const look = (output: Context['stdout']) => lookOf(output, env, context.now(), color);
  const write = (text: string) =>
    boundedWrite(stderr, forLog(text, env), context.signal).catch(() => {});
  const line = async (what: Said) => write(`${folded(safe(await inWords(what)), stderr)}\n`);
  const note = async (what: Said) => {
    if (!quiet && !json) await line(what);
  };
  const remark = async (what: Said) => {
    if (stderr.isTTY) await note(what);
  };
  const say: Terminal = {
    manner: { json, quiet, color, debug },
    look: () => look(stdout),
    print: async (value, render) =>
      stdout.write(
        json
          ? `${toJson(value, await isGuarded(context))}\n`
          : forLog(render(await look(stdout)), env),
      ),
    printText: (text) => stdout.write(text),
    note,
    notes: async (render) => {
      if (!quiet && !json) await write(render(await look(stderr)));
    },
    remark,
    advise: async (hint) => remark(`hint: ${await adviceText(hint)}`),
    announce: line,
    warn: async (what, hint) => {
      const fact = await inWords(what);
      const text = hint === undefined ? fact : `${fact}; ${await adviceText(hint)}`;
      if (json) return write(`${toJson({ warning: { message: text } })}\n`);
      const { paint } = await look(stderr);
      const whole = folded(`warning: ${safe(text)}`, stderr);
      await write(`${whole.replace('warning:', paint('yellow', 'warning:'))}\n`);
    },
    debug: async (text) => {
      if (debug) await write(`debug: ${safe(text)}\n`);
    },
    draw: async (render) => write(render(await look(stderr))),
  };
  return { context, say };
}

async function adviceText(hint: Hint): Promise<string> {
  return (await words()).adviceFor(hint).text;
}

/** An instance may repeat secrets: `toJson` removes the fields `HIDDEN`, and `GUARDED` if an agent reads the output. */
const HIDDEN = new Set(['passphrase']);
const GUARDED = new Set([...HIDDEN, 'payload', 'response', 'generated']);

/**
 * Encodes an instance's object. Unknown fields are kept, `passphrase` is removed.
 * @param guarded whether an agent reads the output, so that other secrets are removed too
 * @param made secrets that this run made, which are added unless `guarded`
 */
export function toJson(object: unknown, guarded = false, made: object = {}): string {
  const removed = guarded ? GUARDED : HIDDEN;
  const added = new Map<string, unknown>(guarded ? [] : Object.entries(made));
  const value = added.size === 0 ? object : { ...Object(object), ...made };
  const hidden = (key: string, field: unknown) =>
    removed.has(key) && added.get(key) !== field ? undefined : field;
  try {
    return safeJson(JSON.stringify(value, hidden));
  } catch {
    // The object is nested too deep for JSON.stringify. Known fields of a push are not nested.
    const fields = Object.entries(Object(value)).filter(([, field]) => Object(field) !== field);
    return safeJson(JSON.stringify(Object.fromEntries(fields), hidden));
  }
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
type Paint = (style: Style, text: string) => string;

export interface Look {
  readonly tty: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly now: Date;
  readonly paint: Paint;
  readonly utf8: boolean;
}

const plain: Paint = (_style, text) => text;

/** Chalk is loaded only if a text will be coloured. */
async function lookOf(output: Output, env: Environment, now: Date, wanted: boolean): Promise<Look> {
  const coloured = wanted && hasColour(output, env);
  const paint = coloured ? await chalkPaint() : plain;
  const { isTTY: tty, columns, rows } = output;
  return { tty, columns, rows, now, paint, utf8: isUtf8(env) };
}

/** The level is fixed, as `hasColour` has decided; the 16 colours of level 1 follow the terminal's theme. */
async function chalkPaint(): Promise<Paint> {
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level: 1 });
  return (style, text) => chalk[style](text);
}

/** NO_COLOR (no-color.org) decides, then FORCE_COLOR, then whether the stream is a terminal. */
function hasColour(output: Output, env: Environment): boolean {
  if (env.NO_COLOR) return false;
  const force = env.FORCE_COLOR;
  if (force !== undefined) return force !== '0' && force !== 'false';
  return output.isTTY && !isDumb(env);
}

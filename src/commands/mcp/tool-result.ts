import { words } from '../../cli/in-words';
import { safe, safeLines } from '../../cli/terminal/safe';
import { savedText } from '../../cli/terminal/wording';
import { jsonIn } from '../../contract/json';
import type { RunEvent } from '../../platform/context';
import { asCliError, type ErrorCode, exitStatus, failedError, phrase } from '../../platform/errors';

export interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A text for a model and for people, without any secret. */
export interface ToolResult {
  readonly text: string;
  readonly failed?: boolean;
}

/** A caller gets these fields of an instance's objects. Other fields may be secret, or of no use to a model. */
const FIELDS =
  `html_url url_token name state kind created_at expire_after_views views_remaining expire_after_days
  days_remaining expires_at expired expired_on deleted close_after_at encrypted deletable_by_viewer retrieval_step ip
  user_agent`.split(/\s+/);

const LONGEST_TEXT = 400;

/** Returns the warnings of a command with `--json`, and the known fields of its object, or of each in its list. */
export function jsonResult(ran: Ran): ToolResult {
  if (ran.status !== 0) return failure(ran);
  const printed = jsonIn(ran.stdout);
  // The JSON is cut off if the command printed too much.
  if (printed === undefined) throw failedError(phrase('output-too-long'));
  const known = Array.isArray(printed) ? printed.map(knownFields) : knownFields(printed);
  return withMessages({ text: JSON.stringify(known) }, messagesIn(ran.stderr));
}

function knownFields(object: unknown): object {
  const values = new Map<string, unknown>(Object.entries(object ?? {}));
  const known: Record<string, string | number | boolean> = {};
  for (const name of FIELDS) {
    const value = values.get(name);
    // A link is not cut, because half of it is useless; contract/decode.ts checks its length.
    if (typeof value === 'string')
      known[name] = safe(value).slice(0, name === 'html_url' ? undefined : LONGEST_TEXT);
    else if (typeof value === 'number' || typeof value === 'boolean') known[name] = value;
  }
  return known;
}

const forPeople: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'Ask the operator of this server to log in: pwpush login.',
  forbidden: 'Ask the person to whom it belongs.',
  passphrase:
    'Ask the person to open it in a terminal with pwpush get. For the instance of this server, the operator can set PWPUSH_PASSPHRASE. Do not ask for the passphrase.',
};

export function failure({ status, stderr }: Ran): ToolResult {
  const [code] = Object.entries(exitStatus).find(([, exit]) => exit === status) ?? [];
  const advice = forPeople[code as ErrorCode] ?? '';
  const text = messagesIn(stderr) || `failed with status ${status}`;
  return { ...withMessages({ text }, advice), failed: true };
}

export function withMessages({ text, ...result }: ToolResult, messages: string): ToolResult {
  return { ...result, text: messages === '' ? text : `${text}\n${messages}` };
}

/** `asCliError` removes the message of an error of the engine, which may quote a secret. */
export async function errorResult(error: unknown): Promise<ToolResult> {
  const { worded } = await words();
  const { message, hint } = worded(asCliError(error));
  return { text: safe(withHint(message, hint)), failed: true };
}

const withHint = (message: string, hint: string | undefined) =>
  hint === undefined ? message : `${message}; ${hint}`;

/** Reports the files that a run saves, with the path as the caller typed it, and never their content. */
export class SaveReport {
  private readonly lines: string[] = [];

  /** @param typed `place` as the caller typed it */
  constructor(
    private readonly place: string,
    private readonly typed: string,
  ) {}

  add(event: RunEvent): void {
    if (event.event !== 'saved') return;
    this.lines.push(safe(savedText(this.asTyped(event.path), event.bytes, event.wanted)));
  }

  result(ran: Ran): ToolResult {
    const stderr = this.asTyped(ran.stderr);
    const ended = ran.status === 0 ? { text: messagesIn(stderr) } : failure({ ...ran, stderr });
    return { ...ended, text: [...this.lines, ended.text].join('\n').trim() };
  }

  private asTyped(text: string): string {
    const [place = '', name = ''] = [this.place, this.typed].map((path) =>
      path.replace(/[/\\]$/, ''),
    );
    return text.replaceAll(place, () => name);
  }
}

/** Extracts messages and hints from lines of JSON; returns other lines as they are. */
export function messagesIn(stderr: string): string {
  return stderr.trim().split('\n').map(messageOf).join('\n');
}

/** Extracts only warnings, because the tool itself describes how the command ended. */
export function warningsIn(stderr: string): string {
  const warnings = stderr.split('\n').filter((line) => line.startsWith('{"warning":'));
  return messagesIn(warnings.join('\n'));
}

function messageOf(line: string): string {
  try {
    const { error, warning } = JSON.parse(line);
    if (warning) return safe(`warning: ${warning.message}`);
    const { message, hint, link, expired } = error;
    // The link of a push or request that was created must not be lost.
    const remains = link === undefined || expired ? '' : `; its link is ${link}`;
    return safe(withHint(message, hint) + remains);
  } catch {
    return safe(line.replace(/^pwpush: /, ''));
  }
}

/** In bytes: a caller gets this much of the end of each output stream of a program. */
const SHOWN_BYTES = 16 * 1024;

/**
 * Describes how the program of `run --json` ended, the warnings of `run`, and the output. If `run` printed only an
 * error, describes why the program was not started.
 */
export function programResult(ran: Ran): ToolResult {
  const { status, stdout, stderr } = ran;
  const [warnings = ''] = /^(?:\{"warning":.*\n)*/.exec(stderr) ?? [];
  const printed = stderr.slice(warnings.length);
  if (stdout === '' && isErrorOf(status, printed)) return failure(ran);
  const { text } = withMessages({ text: `exit code ${status}` }, messagesIn(warnings));
  const parts = [text, ...shown('standard output', stdout), ...shown('standard error', printed)];
  return { text: parts.join('\n') };
}

function isErrorOf(status: number, text: string): boolean {
  try {
    const own = exitStatus[JSON.parse(text).error.code as ErrorCode];
    // Like a shell, `run` ends with 126 or 127 if it cannot start a program.
    return own !== undefined && [own, 126, 127].includes(status);
  } catch {
    return false;
  }
}

function shown(name: string, text: string): string[] {
  const bytes = Buffer.from(text);
  if (bytes.length === 0) return [];
  const cut = bytes.length - SHOWN_BYTES;
  const heading = cut > 0 ? `${name}, its last ${SHOWN_BYTES} bytes:` : `${name}:`;
  return ['', heading, safeLines(bytes.subarray(Math.max(0, cut)).toString('utf8'))];
}

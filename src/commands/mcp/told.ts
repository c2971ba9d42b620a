import { safe, safeLines } from '../../cli/terminal/safe';
import { asCliError, type ErrorCode, exitStatus, failedError } from '../../platform/errors';
import type { Ran } from './inner-run';

/** What a tool answers: a text for a model and for people, without any secret. */
export interface Told {
  readonly text: string;
  readonly failed?: boolean;
}

/** What a caller gets of the objects of an instance. The rest may be a secret, or of no use to a model. */
const FIELDS = [
  ...(['html_url', 'url_token', 'name', 'state', 'kind', 'created_at'] as const),
  ...(['expire_after_views', 'views_remaining', 'expire_after_days', 'days_remaining'] as const),
  ...(['expires_at', 'expired', 'expired_on', 'deleted', 'close_after_at', 'encrypted'] as const),
  ...(['deletable_by_viewer', 'retrieval_step', 'ip', 'user_agent'] as const),
];

/** Characters of a text that visitors or the instance chose, and of a link, half of which is useless. */
const LONGEST = { text: 400, link: 4000 };

/** The told fields of one object, or of each in a list, as JSON. */
export function toldFields(json: string): Told {
  const found = parsed(json);
  const told = Array.isArray(found) ? found.map(chosen) : chosen(found);
  return { text: JSON.stringify(told) };
}

/** @throws CliError for what is not whole, as too much of it was printed */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw failedError('the response of the instance is too long');
  }
}

function chosen(object: unknown): object {
  const known = new Map<string, unknown>(Object.entries(object ?? {}));
  const told: Record<string, string | number | boolean> = {};
  for (const name of FIELDS) {
    const value = known.get(name);
    if (typeof value === 'string')
      told[name] = safe(value).slice(0, LONGEST[name === 'html_url' ? 'link' : 'text']);
    else if (typeof value === 'number' || typeof value === 'boolean') told[name] = value;
  }
  return told;
}

/** What only a person can do about an error. */
const forPeople: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'Ask the operator of this server to log in: pwpush login.',
  forbidden: 'Ask the person to whom it belongs.',
  passphrase:
    'Ask the person to open it in a terminal with pwpush get, or the operator to set PWPUSH_PASSPHRASE for this server. Do not ask for the passphrase.',
};

/** Why a command failed, and what to do. */
export function failure({ status, stderr }: Ran, more?: string): Told {
  const [code] = Object.entries(exitStatus).find(([, one]) => one === status) ?? [];
  const advice = forPeople[code as ErrorCode];
  const text = [saidText(stderr) || `failed with status ${status}`, advice, more];
  return { text: text.filter((part) => part !== undefined).join('\n'), failed: true };
}

/** An error of a tool; of one that is not ours, without its message. */
export function toldError(error: unknown): Told {
  const { message, hint } = asCliError(error);
  return { text: safe(withHint(message, hint)), failed: true };
}

const withHint = (message: string, hint: string | undefined) =>
  hint === undefined ? message : `${message}; ${hint}`;

/** What a command said, of JSON the messages and hints. */
export function saidText(stderr: string): string {
  return stderr.trim().split('\n').map(saidLine).join('\n');
}

function saidLine(line: string): string {
  try {
    const { error, warning } = JSON.parse(line);
    if (warning) return safe(`warning: ${warning.message}`);
    const { message, hint, link, expired } = error;
    // What was created must not be lost.
    const remains = link === undefined || expired ? '' : `; its link is ${link}`;
    return safe(withHint(message, hint) + remains);
  } catch {
    return safe(line.replace(/^pwpush: /, ''));
  }
}

/** Bytes of the output of a program that are told, of each stream: the end. */
const TOLD_BYTES = 16 * 1024;

/** How a program ended, and what it printed. */
export function programEnd({ status, stdout, stderr }: Ran): Told {
  const parts = [
    `exit code ${status}`,
    ...shown('standard output', stdout),
    ...shown('standard error', stderr),
  ];
  return { text: parts.join('\n') };
}

function shown(name: string, text: string): string[] {
  const bytes = Buffer.from(text);
  if (bytes.length === 0) return [];
  const cut = bytes.length - TOLD_BYTES;
  const heading = cut > 0 ? `${name}, its last ${TOLD_BYTES} bytes:` : `${name}:`;
  return ['', heading, safeLines(bytes.subarray(Math.max(0, cut)).toString('utf8'))];
}

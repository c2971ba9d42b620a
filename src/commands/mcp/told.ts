import { safe, safeLines } from '../../cli/terminal/safe';
import { asCliError, type ErrorCode, exitStatus, failedError, phrase } from '../../platform/errors';

export interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

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

const LONGEST_TEXT = 400;

/** What a command printed with `--json`: the told fields of one object, or of each in a list, and its warnings. */
export function toldJson(ran: Ran): Told {
  if (ran.status !== 0) return failure(ran);
  const found = parsed(ran.stdout);
  const told = Array.isArray(found) ? found.map(chosen) : chosen(found);
  return together({ text: JSON.stringify(told) }, saidText(ran.stderr));
}

/** @throws CliError for what is not whole, as too much of it was printed */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw failedError(phrase('output-too-long'));
  }
}

function chosen(object: unknown): object {
  const known = new Map<string, unknown>(Object.entries(object ?? {}));
  const told: Record<string, string | number | boolean> = {};
  for (const name of FIELDS) {
    const value = known.get(name);
    // Half a link is useless, and its length was checked.
    if (typeof value === 'string')
      told[name] = safe(value).slice(0, name === 'html_url' ? undefined : LONGEST_TEXT);
    else if (typeof value === 'number' || typeof value === 'boolean') told[name] = value;
  }
  return told;
}

const forPeople: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'Ask the operator of this server to log in: pwpush login.',
  forbidden: 'Ask the person to whom it belongs.',
  passphrase:
    'Ask the person to open it in a terminal with pwpush get. For the instance of this server, the operator can set PWPUSH_PASSPHRASE. Do not ask for the passphrase.',
};

export function failure({ status, stderr }: Ran): Told {
  const [code] = Object.entries(exitStatus).find(([, one]) => one === status) ?? [];
  const advice = forPeople[code as ErrorCode] ?? '';
  const text = saidText(stderr) || `failed with status ${status}`;
  return { ...together({ text }, advice), failed: true };
}

export function together({ text, ...told }: Told, said: string): Told {
  return { ...told, text: said === '' ? text : `${text}\n${said}` };
}

/** An error of a tool; of one that is not ours, without its message. */
export async function toldError(error: unknown): Promise<Told> {
  const { worded } = await import('../../cli/report-error');
  const { message, hint } = worded(asCliError(error));
  return { text: safe(withHint(message, hint)), failed: true };
}

const withHint = (message: string, hint: string | undefined) =>
  hint === undefined ? message : `${message}; ${hint}`;

/** What a command said, of JSON the messages and hints. */
export function saidText(stderr: string): string {
  return stderr.trim().split('\n').map(saidLine).join('\n');
}

/** What a command warned of, which ended in a way that the tool has its own words for. */
export function warningsIn(stderr: string): string {
  return saidText(
    stderr
      .split('\n')
      .filter((line) => line.startsWith('{"warning":'))
      .join('\n'),
  );
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

/**
 * How the program of `run --json` ended, what the command warned of, and what was printed; why it was not started, if the
 * command says so and there is nothing else.
 */
export function programEnd(ran: Ran): Told {
  const { status, stdout, stderr } = ran;
  const [warnings = ''] = /^(?:\{"warning":.*\n)*/.exec(stderr) ?? [];
  const printed = stderr.slice(warnings.length);
  if (stdout === '' && isErrorOf(status, printed)) return failure(ran);
  const { text } = together({ text: `exit code ${status}` }, saidText(warnings));
  const parts = [text, ...shown('standard output', stdout), ...shown('standard error', printed)];
  return { text: parts.join('\n') };
}

/** Whether a text is the error of a command that ended with that status, as JSON. */
function isErrorOf(status: number, text: string): boolean {
  try {
    const own = exitStatus[JSON.parse(text).error.code as ErrorCode];
    // Those of shells are for a program that is not there.
    return own !== undefined && [own, 126, 127].includes(status);
  } catch {
    return false;
  }
}

function shown(name: string, text: string): string[] {
  const bytes = Buffer.from(text);
  if (bytes.length === 0) return [];
  const cut = bytes.length - TOLD_BYTES;
  const heading = cut > 0 ? `${name}, its last ${TOLD_BYTES} bytes:` : `${name}:`;
  return ['', heading, safeLines(bytes.subarray(Math.max(0, cut)).toString('utf8'))];
}

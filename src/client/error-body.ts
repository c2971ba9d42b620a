import { size } from '../contract/byte-size';
import { header, jsonIn, type WholeResponse } from './transport/response';

export function isJson(response: Pick<WholeResponse, 'headers'>): boolean {
  return /\bjson\b/i.test(header(response, 'content-type') ?? '');
}

/** The fields of a response; none if it is no object in JSON. */
export function objectIn(response: WholeResponse): Readonly<Record<string, unknown>> {
  const body = isJson(response) ? jsonIn(response) : undefined;
  return typeof body === 'object' ? { ...body } : {};
}

/** The error text of a response: `error`, `message`, or the arrays by field of a 422. */
export function errorText(response: WholeResponse): string {
  if (!isJson(response)) return response.body.length === 0 ? '' : firstLine(response);
  const body = jsonIn(response);
  return body === undefined ? firstLine(response) : sentences(body).join('; ');
}

function sentences(body: unknown): string[] {
  if (typeof body === 'string') return [body];
  if (typeof body !== 'object' || body === null) return [];
  const { error: short, message } = body as { error?: unknown; message?: unknown };
  if (typeof message === 'string' || typeof short === 'string') {
    return [short, message].filter(
      (part, at, all) => typeof part === 'string' && all.indexOf(part) === at,
    ) as string[];
  }
  return Object.entries(body).flatMap(([field, messages]) => fieldMessages(field, messages));
}

function fieldMessages(field: string, messages: unknown): string[] {
  const list = (Array.isArray(messages) ? messages : [messages]).filter(
    (one) => typeof one === 'string',
  );
  const bare = field === 'base' || field === 'errors' || field === 'error';
  const label = field.replaceAll('_', ' ');
  const name = OURS.get(field) ?? label;
  // "Payload is required." includes the name of its field; "is too long" continues it.
  const named = (one: string) => one.toLowerCase().startsWith(label.toLowerCase());
  const unnamed = (one: string) => (named(one) ? one.slice(label.length).trimStart() : one);
  return list
    .map((one) => one.trim().replace(/(?<=\w)\.$/, ''))
    .filter((one) => one !== '')
    .map((one) => one.replace(/\b(\d{4,15}) bytes\b/, (_, bytes) => size(Number(bytes))))
    .map((one) => (bare ? one : unnamed(one)))
    .map((one) => (bare ? one : `${name}${/^[^\p{Lu}]/u.test(one) ? '' : ':'} ${one}`));
}

/** What fields of the API are called on the command line. */
const OURS = new Map(
  Object.entries({
    payload: 'the text',
    request: 'the question',
    response: 'the answer',
    passphrase: 'the passphrase',
    files: 'the files',
    kind: '--kind',
    name: '--name',
    note: '--note',
    expire_after_days: '--days',
    expire_after_views: '--views',
    expire_after_duration: '--expire',
    expires_in: '--expire',
    close_after: '--expire',
    close_after_duration: '--expire',
    deletable_by_viewer: '--deletable',
    retrieval_step: '--retrieval-step',
    notify_emails_to: '--notify',
    notify_emails_to_locale: '--locale',
  }),
);

/** A body that is not what was expected: its type and first line. */
export function firstLine(response: WholeResponse): string {
  if (response.body.length === 0) return 'an empty body';
  const text = response.body.subarray(0, 4096).toString('utf8');
  const line = text.split(/[\r\n]/).find((one) => one.trim() !== '') ?? '';
  return `${mediaType(response)}, "${line.trim()}"`;
}

/** A body that must not be quoted: its type and size. */
export function sizeOnly(response: WholeResponse): string {
  return response.body.length === 0
    ? 'an empty body'
    : `${mediaType(response)}, ${response.body.length} bytes`;
}

function mediaType(response: WholeResponse): string {
  return (header(response, 'content-type') ?? 'no content type').split(';')[0] ?? '';
}

/** Characters of a text that are searched for secrets; at most 300 of them are quoted, of up to 16 MiB. */
const SEARCHED = 4096;

/** The text as it may be quoted in a message: shortened, and left out if it repeats a secret of the request. */
export function quotable(text: string, secrets: readonly string[]): string {
  const start = text.slice(0, SEARCHED);
  if (repeats(start, secrets)) return 'its response is not shown, as it repeats what was sent';
  return start.length > 300 ? `${start.slice(0, 300)}…` : start;
}

/** A run of this many equal characters is not a coincidence. */
const RUN = 8;
/** Shorter secrets are not searched for: they occur in any text. */
const SHORTEST = 4;

/** Whether a text contains a secret, or eight characters in a row of one, as it is or with URL, HTML or JSON escapes. */
function repeats(text: string, secrets: readonly string[]): boolean {
  const plain = unescaped(text);
  return secrets.some((secret) => holds(text, secret) || holds(plain, unescaped(secret)));
}

function holds(text: string, secret: string): boolean {
  if (secret.length < SHORTEST) return false;
  if (secret.length < RUN) return containsWord(text, secret);
  const runs = new Set<string>();
  for (let at = 0; at + RUN <= text.length; at++) runs.add(text.slice(at, at + RUN));
  for (let at = 0; at + RUN <= secret.length; at++) {
    if (runs.has(secret.slice(at, at + RUN))) return true;
  }
  return false;
}

/** Not inside a longer word: the passphrase "pass" would hide every message about passphrases. */
function containsWord(text: string, word: string): boolean {
  const letter = /[\p{L}\p{N}]/u;
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const around = [text[at - 1] ?? '', text[at + word.length] ?? ''];
    if (!around.some((character) => letter.test(character))) return true;
  }
  return false;
}

const escapes: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '\\n': '\n',
  '\\r': '\r',
  '\\t': '\t',
};

/** Undoes escapes. Also makes `+`, which is a space in a URL, a space. */
function unescaped(text: string): string {
  return text
    .replace(/(?:%[\da-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString())
    .replace(/&#(\d{1,6});|&#x([\da-f]{1,5});|\\u([\da-f]{4})/gi, (_, decimal, html, json) =>
      String.fromCodePoint(Number.parseInt(decimal ?? html ?? json, decimal ? 10 : 16)),
    )
    .replace(
      /&(?:amp|lt|gt|quot|apos);|\\[nrt"\\/]/gi,
      (sign) => escapes[sign.toLowerCase()] ?? sign.replace('\\', ''),
    )
    .replaceAll('+', ' ');
}

import { type Fact, phrase } from '../platform/errors';
import { header, jsonBody, type WholeResponse } from './transport/response';

export function isJson(response: Pick<WholeResponse, 'headers'>): boolean {
  return /\bjson\b/i.test(header(response, 'content-type') ?? '');
}

export function objectIn(response: WholeResponse): Readonly<Record<string, unknown>> {
  const body = isJson(response) ? jsonBody(response) : undefined;
  return typeof body === 'object' ? { ...body } : {};
}

/**
 * Returns `error`, or what describes it (RFC 6749, 5.2), and `message` of a JSON body, or the texts by field of a 422;
 * the first line of any other body.
 */
export function wordsOf(response: WholeResponse): readonly Fact[] {
  if (response.body.length === 0) return [];
  const body = isJson(response) ? jsonBody(response) : undefined;
  return body === undefined ? [bodyFact(response, true)] : clauses(body);
}

function clauses(body: unknown): readonly Fact[] {
  if (typeof body === 'string') return body === '' ? [] : [body];
  if (typeof body !== 'object' || body === null) return [];
  const { error, error_description, message } = body as Readonly<Record<string, unknown>>;
  const texts = new Set(
    [error_description ?? error, message].filter((text) => typeof text === 'string'),
  );
  if (texts.size > 0) return [...texts].filter((text) => text !== '');
  return Object.entries(body).flatMap(([field, messages]) => ofField(field, messages));
}

function ofField(field: string, messages: unknown): readonly Fact[] {
  const texts = [messages]
    .flat()
    .filter((message) => typeof message === 'string')
    .map((message) => message.trim().replace(/(?<=\w)\.$/, ''))
    .filter((text) => text !== '');
  if (['base', 'errors', 'error'].includes(field))
    return texts.map((text) => phrase('body-text', text));
  // "Payload is required." includes the name of its field; "is too long" continues it.
  const label = field.replaceAll('_', ' ').toLowerCase();
  const unlabelled = (text: string) =>
    text.toLowerCase().startsWith(label) ? text.slice(label.length).trimStart() : text;
  return texts.map((text) => phrase('body-field', field, unlabelled(text)));
}

export function textOf(words: readonly Fact[]): string {
  return words.flatMap((fact) => (typeof fact === 'string' ? fact : fact.of)).join(' ');
}

/** Describes an unexpected body by its type and its first line, or by its size if it must not be quoted. */
export function bodyFact(response: WholeResponse, isQuotable: boolean): Fact {
  const { body } = response;
  if (body.length === 0) return phrase('body-empty');
  const [type = ''] = (header(response, 'content-type') ?? '').split(';');
  if (!isQuotable) return phrase('body-size', type, body.length);
  const [line = ''] = /\S[^\r\n]*/.exec(body.toString('utf8', 0, 4096)) ?? [];
  return phrase('body-line', type, line.trimEnd());
}

const MOST_SEARCHED_CHARACTERS = 4096;
const MOST_QUOTED_CHARACTERS = 300;

/** Shortens the texts of a response, and replaces them by `body-hidden` if they repeat a secret of the HTTP request. */
export function quotable(words: readonly Fact[], secrets: readonly string[]): readonly Fact[] {
  if (repeats(textOf(words).slice(0, MOST_SEARCHED_CHARACTERS), secrets))
    return [phrase('body-hidden')];
  let left = MOST_QUOTED_CHARACTERS;
  const cut = (text: string) => {
    const shown = text.slice(0, left);
    left -= shown.length;
    return shown === text ? text : `${shown}…`;
  };
  return words.flatMap((fact): Fact[] => {
    if (left === 0) return [];
    if (typeof fact === 'string') return [cut(fact)];
    return [{ ...fact, of: fact.of.map((part) => (typeof part === 'string' ? cut(part) : part)) }];
  });
}

/** A text and a secret that share this many characters in a row do not do so by coincidence. */
const RUN = 8;
/** A shorter secret occurs in any text, so that it is not searched for. */
const SHORTEST = 4;

/** Returns whether a text has a secret or eight characters in a row of one, plain or with URL, HTML or JSON escapes. */
function repeats(text: string, secrets: readonly string[]): boolean {
  const plain = unescaped(text);
  return secrets.some((secret) => holds(text, secret) || holds(plain, unescaped(secret)));
}

function holds(text: string, secret: string): boolean {
  if (secret.length < SHORTEST) return false;
  if (secret.length < RUN) return containsWord(text, secret);
  const runs = new Set<string>();
  for (let start = 0; start + RUN <= text.length; start++) runs.add(text.slice(start, start + RUN));
  for (let start = 0; start + RUN <= secret.length; start++)
    if (runs.has(secret.slice(start, start + RUN))) return true;
  return false;
}

/** Finds a word that is not a part of a longer one: the passphrase "pass" would hide all messages about passphrases. */
function containsWord(text: string, word: string): boolean {
  const letter = /[\p{L}\p{N}]/u;
  for (let start = text.indexOf(word); start !== -1; start = text.indexOf(word, start + 1)) {
    const around = [text[start - 1] ?? '', text[start + word.length] ?? ''];
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

/** Decodes URL, HTML and JSON escapes. A `+` becomes a space, as in a URL. */
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

import { parseJson } from '../json';
import { repeats } from './secret-echo';
import type { Answer } from './transport/call';
import { header } from './transport/transport';

export function isJson(answer: Pick<Answer, 'headers'>): boolean {
  return /\bjson\b/i.test(header(answer, 'content-type') ?? '');
}

/** What the instance says is wrong: `error`, `message`, or the arrays by field of a 422. */
export function messageOf(answer: Answer): string {
  if (!isJson(answer)) return answer.body.length === 0 ? '' : describe(answer);
  try {
    return sentences(parseJson(answer.body)).join('; ');
  } catch {
    return describe(answer);
  }
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
  // "Payload is required." names its field itself; "is too long" goes on behind the name of its field.
  const named = (one: string) => one.toLowerCase().startsWith(label.toLowerCase());
  return list
    .map((one) => one.trim().replace(/(?<=\w)\.$/, ''))
    .filter((one) => one !== '')
    .map((one) => (bare || named(one) ? one : `${label}${/^\p{Ll}/u.test(one) ? '' : ':'} ${one}`));
}

/** An answer that is not JSON: type and first line. */
export function describe(answer: Answer): string {
  const type = (header(answer, 'content-type') ?? 'no content type').split(';')[0] ?? '';
  if (answer.body.length === 0) return 'an empty body';
  const text = answer.body.subarray(0, 4096).toString('utf8');
  const line = text.split(/[\r\n]/).find((one) => one.trim() !== '') ?? '';
  return `${type}, "${line.trim()}"`;
}

const shorten = (text: string) => (text.length > 300 ? `${text.slice(0, 300)}…` : text);

/** Beyond that nothing is told, so that it is not looked through either: it can be 16 MiB. */
const LOOKED_AT = 4096;

/** What was said, for a message; not where it repeats a secret of the request. */
export function tellable(text: string, secrets: readonly string[]): string {
  const beginning = text.slice(0, LOOKED_AT);
  if (!repeats(beginning, secrets)) return shorten(beginning);
  return 'what it says is not shown, since it repeats what was sent';
}

/** An answer that must not be quoted: type and size. */
export function sizeOf(answer: Answer): string {
  const type = (header(answer, 'content-type') ?? 'no content type').split(';')[0] ?? '';
  return answer.body.length === 0 ? 'an empty body' : `${type}, ${answer.body.length} bytes`;
}

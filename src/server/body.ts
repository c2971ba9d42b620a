import type { Connection } from './caller';
import { Gathered, Held } from './held';
import { Refusal } from './refusal';

/** A payload of 1 MiB may take six times that in JSON escapes; the rest is room for the other fields. */
const JSON_BYTES = 8 * 1024 * 1024;
const FORM_BYTES = 16 * 1024;

/** The `push` object of a creation request in JSON. Throws a `Refusal` for any other body. */
export async function readPush(request: Request, connection: Connection): Promise<object> {
  if (mediaType(request) !== 'application/json') {
    throw new Refusal(
      'malformed',
      'The body must be JSON, sent as Content-Type: application/json.',
    );
  }
  const body = parse(await readText(request, connection, JSON_BYTES));
  const push = isObject(body) && 'push' in body ? body.push : undefined;
  if (!isObject(push))
    throw new Refusal('malformed', 'The body must be an object with a `push` object.');
  return push;
}

/** The fields of a submitted HTML form. */
export async function readForm(request: Request, connection: Connection): Promise<URLSearchParams> {
  if (mediaType(request) !== 'application/x-www-form-urlencoded') return new URLSearchParams();
  return new URLSearchParams(await readText(request, connection, FORM_BYTES));
}

export function isMultipart(request: Request): boolean {
  return mediaType(request) === 'multipart/form-data';
}

/** The bytes of a body as they come. Throws a `Refusal` when they break off. */
export async function* bodyOf(request: Request, connection: Connection) {
  try {
    yield* connection.body?.() ?? request.body ?? [];
  } catch {
    throw new Refusal('malformed', 'The body broke off.');
  }
}

function mediaType(request: Request): string {
  return (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the input, which may be the secret.
    throw new Refusal('malformed', 'The body is not valid JSON.');
  }
}

async function readText(request: Request, connection: Connection, limit: number): Promise<string> {
  // What says itself that it is too much need not come.
  if (Number(request.headers.get('content-length')) > limit) throw tooLarge(limit);
  const bytes = await readBytes(bodyOf(request, connection), limit);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal('malformed', 'The body is not valid UTF-8.');
  }
}

/** Counts what comes rather than trusting Content-Length. */
async function readBytes(body: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
  const bytes = new Gathered();
  const held = new Held();
  try {
    for await (const chunk of body) {
      if (bytes.size + chunk.length > limit) throw tooLarge(limit);
      held.add(chunk.length);
      bytes.add(chunk);
    }
  } finally {
    held.letGo();
  }
  return bytes.whole();
}

function tooLarge(limit: number): Refusal {
  return new Refusal('too_large', `The body is larger than ${limit} bytes.`);
}

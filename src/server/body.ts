import { filesRefused } from './creation';
import { busy, Refusal } from './refusal';

/** A payload of 1 MiB may take six times that in JSON escapes; the rest is room for the other fields. */
const JSON_BYTES = 8 * 1024 * 1024;
const FORM_BYTES = 16 * 1024;

/** Bytes of unfinished bodies that are held at once, over all requests. */
const HELD_BYTES = 64 * 1024 * 1024;
/** What does not count of each: whoever fills the room with large bodies keeps nobody from pushing a password. */
const SMALL_BYTES = 64 * 1024;
let held = 0;

/** The `push` object of a creation request. Throws a `Refusal` for any other body. */
export async function readPush(request: Request): Promise<object> {
  const type = mediaType(request);
  if (type === 'multipart/form-data') throw filesRefused();
  if (type !== 'application/json') {
    throw new Refusal(
      'malformed',
      'The body must be JSON, sent as Content-Type: application/json.',
    );
  }
  const body = parse(await readText(request, JSON_BYTES));
  const push = isObject(body) && 'push' in body ? body.push : undefined;
  if (!isObject(push))
    throw new Refusal('malformed', 'The body must be an object with a `push` object.');
  return push;
}

/** The fields of a submitted HTML form. */
export async function readForm(request: Request): Promise<URLSearchParams> {
  if (mediaType(request) !== 'application/x-www-form-urlencoded') return new URLSearchParams();
  return new URLSearchParams(await readText(request, FORM_BYTES));
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

async function readText(request: Request, limit: number): Promise<string> {
  const bytes = await readBytes(request, limit);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal('malformed', 'The body is not valid UTF-8.');
  }
}

/** Counts what comes rather than trusting Content-Length, unless that says itself that it is too much. */
async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let counted = 0;
  let full = false;
  if (Number(request.headers.get('content-length')) > limit) throw tooLarge(limit);
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.length;
      if (size > limit) break;
      if (size > SMALL_BYTES) {
        counted += chunk.length;
        held += chunk.length;
      }
      full = size > SMALL_BYTES && held > HELD_BYTES;
      if (full) break;
      chunks.push(chunk);
    }
  } catch {
    throw new Refusal('malformed', 'The body broke off.');
  } finally {
    held -= counted;
  }
  if (size > limit) throw tooLarge(limit);
  if (full) throw busy('Too much is being received at once. Try again later.');
  return Buffer.concat(chunks);
}

function tooLarge(limit: number): Refusal {
  return new Refusal('too_large', `The body is larger than ${limit} bytes.`);
}

import { size } from '../../contract';
import { valuesIn } from '../../json';
import { Refusal } from '../refusal';
import { Gathered, type MemoryUse } from './body-budget';
import type { Connection } from './caller';

/** A payload of 1 MiB may take six times that in JSON escapes; the rest is room for the other fields. */
const PUSH_BYTES = 8 * 1024 * 1024;
/** Of a form of our own pages. */
const FORM_BYTES = 16 * 1024;
const MAX_FIELDS = 100;
const FORM_TYPE = 'application/x-www-form-urlencoded';
/** A creation has fewer than 20; 8 MiB of `[],` become half a gibibyte. */
const JSON_VALUES = 1000;

/**
 * The `push` object of a creation request without files, in JSON or as a form (docs/wire.md, "Creation bodies"). The
 * body counts as memory in use.
 * @throws Refusal for any other body
 */
export async function readPush(
  request: Request,
  connection: Connection,
  memory: MemoryUse,
): Promise<object> {
  const type = mediaType(request);
  if (type !== 'application/json' && type !== FORM_TYPE) {
    throw new Refusal(
      'malformed',
      'The body must be JSON or a form, and its Content-Type must say so.',
    );
  }
  const bytes = await readBytes(request, connection, PUSH_BYTES, memory);
  return type === FORM_TYPE ? pushOfForm(text(bytes)) : pushOfJson(parse(bytes));
}

/** The reference also takes the fields of a push without the `push` around them. */
function pushOfJson(body: unknown): object {
  const bare = isObject(body) && 'payload' in body ? body : undefined;
  const push = isObject(body) && 'push' in body ? body.push : bare;
  if (isObject(push)) return push;
  throw new Refusal('malformed', 'The body must be an object with a `push` object.');
}

function pushOfForm(form: string): object {
  const pairs = form.split('&', MAX_FIELDS + 1);
  if (pairs.length > MAX_FIELDS)
    throw new Refusal('malformed', `The form has more than ${MAX_FIELDS} fields.`);
  const fields = new Map<string, string | string[]>();
  for (const pair of pairs) {
    const end = pair.indexOf('=');
    const name = formDecoded(end === -1 ? pair : pair.slice(0, end));
    const value = end === -1 ? '' : formDecoded(pair.slice(end + 1));
    const [, field, list] = /^push\[(\w+)\](\[\])?$/.exec(name) ?? [];
    if (field) fields.set(field, list ? [value] : value);
  }
  if (fields.size === 0)
    throw new Refusal('malformed', 'The form must have fields like push[payload].');
  return Object.fromEntries(fields);
}

/** Unlike `URLSearchParams` refuses what is not UTF-8, rather than keep another secret than was sent. */
function formDecoded(encoded: string): string {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    throw new Refusal('malformed', 'The form is not valid: % must be followed by UTF-8 in hex.');
  }
}

/** Whether a push without files claims to have some. */
export function asksForFiles(push: object): boolean {
  const { files, kind } = push as { files?: unknown; kind?: unknown };
  return (files !== undefined && files !== null) || kind === 'file';
}

/** The fields of a submitted HTML form. */
export async function readForm(
  request: Request,
  connection: Connection,
  memory: MemoryUse,
): Promise<URLSearchParams> {
  if (mediaType(request) !== FORM_TYPE) return new URLSearchParams();
  return new URLSearchParams(text(await readBytes(request, connection, FORM_BYTES, memory)));
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

function parse(bytes: Uint8Array): unknown {
  if (valuesIn(bytes) > JSON_VALUES)
    throw new Refusal('malformed', `The body holds more than ${JSON_VALUES} values.`);
  const json = text(bytes);
  try {
    return JSON.parse(json);
  } catch {
    // The parser's own message quotes the input, which may be the secret.
    throw new Refusal('malformed', 'The body is not valid JSON.');
  }
}

function text(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal('malformed', 'The body is not valid UTF-8.');
  }
}

/** Counts what comes rather than trusting Content-Length. */
async function readBytes(
  request: Request,
  connection: Connection,
  limit: number,
  memory: MemoryUse,
): Promise<Uint8Array> {
  // What says itself that it is too much need not come.
  if (Number(request.headers.get('content-length')) > limit) throw tooLarge(limit);
  const bytes = new Gathered();
  for await (const chunk of bodyOf(request, connection)) {
    if (bytes.size + chunk.length > limit) throw tooLarge(limit);
    memory.add(chunk.length);
    bytes.add(chunk);
  }
  return bytes.whole();
}

function tooLarge(limit: number): Refusal {
  return new Refusal('too_large', `The body is larger than ${size(limit)}.`);
}

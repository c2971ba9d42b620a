import { setImmediate } from 'node:timers/promises';
import type { Context } from 'hono';
import { isObject, JsonSize } from '../../contract/json';
import { malformed, ServiceRefusal, tooLarge } from '../service-errors';
import { Collected } from './body-memory';
import type { Env } from './env';
import { FormSize, formFields, utf8 } from './form-fields';

/** A payload of 1 MiB takes up to six times that in JSON escapes; the rest is for the other fields. */
const PUSH_BYTES = 8 * 1024 * 1024;
/** Maximum bytes of all fields together, decoded. The payload may take 1 MiB, which CR LF line ends can double. */
export const FIELD_BYTES = 2 * 1024 * 1024;
/** Maximum bytes of a form of our own pages that has no files. */
const FORM_BYTES = 16 * 1024;
/** Maximum bytes of the parameters of a token exchange. */
const PARAMETER_BYTES = 32 * 1024;
const FIELD = { push: 'push[payload]', request: 'request[request]' } as const;
const FORM_TYPE = 'application/x-www-form-urlencoded';
/** Bytes. Other HTTP requests are served before a larger body is processed. */
const LARGE = 256 * 1024;
/** A creation body has fewer than 20 values. Parsed, 8 MiB of `[],` would take half a gibibyte of memory. */
const JSON_VALUES = 1000;

export type BodyRoot = 'push' | 'request';

type Fields = readonly (readonly [string, unknown])[];

/**
 * Reads the fields of the `push` or `request` object of a body without files, in JSON or as a form (docs/wire.md,
 * "Creation bodies"). The body counts as memory in use.
 * @throws ServiceRefusal for any other body
 */
export async function readFields(c: Context<Env>, root: BodyRoot): Promise<Fields> {
  const type = mediaType(c.req.raw);
  if (type !== 'application/json' && type !== FORM_TYPE)
    throw malformed('The body must be JSON or a form, and its Content-Type must say so.');
  // Chunks are measured as they arrive: to scan and decode 8 MiB at once would delay other HTTP requests.
  const size = type === FORM_TYPE ? new FormSize() : new JsonSize();
  const bytes = await readBytes(c, PUSH_BYTES, (chunk) => {
    size.add(chunk);
    if (size.text > FIELD_BYTES) throw tooLarge(FIELD_BYTES, 'The fields are');
    if ('values' in size && size.values > JSON_VALUES)
      throw malformed(`The body contains more than ${JSON_VALUES} values.`);
  });
  return type === FORM_TYPE ? fieldsOfForm(bytes, root) : fieldsOfJson(parse(bytes), root);
}

/** Password Pusher also accepts the fields of a push without the `push` object around them. */
function fieldsOfJson(body: unknown, root: BodyRoot): Fields {
  const bare = isObject(body) && root === 'push' && 'payload' in body ? body : undefined;
  const fields = isObject(body) && root in body ? body[root] : bare;
  if (isObject(fields)) return Object.entries(fields);
  throw malformed(`The body must be an object with a \`${root}\` object.`);
}

function fieldsOfForm(form: Uint8Array, root: BodyRoot): Fields {
  const isWanted = (name: string) => fieldNamed(name).root === root;
  const fields = Array.from(formFields(form, isWanted), ([name, value]) => {
    const { field, isList } = fieldNamed(name);
    return [field, isList ? [value] : value] as const;
  });
  if (fields.length > 0) return fields;
  throw malformed(`The form must have fields like ${FIELD[root]}.`);
}

/** Parses the name of a form field, such as `push[payload]`. */
export function fieldNamed(name: string) {
  const [, root, field = '', list] = /^(\w+)\[(\w+)\](\[\])?$/.exec(name) ?? [];
  return { root, field, isList: list !== undefined };
}

/** Whether a push in JSON or a form asks for files, which only multipart/form-data can contain. */
export function asksForFiles(push: object): boolean {
  const { files, kind } = push as { files?: unknown; kind?: unknown };
  return (files !== undefined && files !== null) || kind === 'file';
}

/**
 * Reads the fields of a form of our own pages; none if the body is of another type.
 * @throws ServiceRefusal when the form is too large or not valid
 */
export async function readForm(c: Context<Env>): Promise<ReadonlyMap<string, string>> {
  if (mediaType(c.req.raw) !== FORM_TYPE) return new Map();
  return new Map(formFields(await readBytes(c, FORM_BYTES), () => true));
}

/**
 * Reads the parameters of a small form, or the fields of a JSON object.
 * @throws ServiceRefusal for any other body
 */
export async function readParameters(c: Context<Env>): Promise<Fields> {
  const bytes = await readBytes(c, PARAMETER_BYTES);
  const type = mediaType(c.req.raw);
  if (type === FORM_TYPE) return [...formFields(bytes, () => true)];
  const body = type === 'application/json' ? parse(bytes) : undefined;
  if (isObject(body)) return Object.entries(body);
  throw malformed('The body must be a JSON object or a form, and its Content-Type must say so.');
}

export function isMultipart(request: Request): boolean {
  return mediaType(request) === 'multipart/form-data';
}

/**
 * Yields the bytes of a body as they arrive.
 * @throws ServiceRefusal when the body is compressed or incomplete
 */
export async function* bodyOf({ env, req }: Context<Env>) {
  const coding = req.header('content-encoding')?.trim() || 'identity';
  if (coding.toLowerCase() !== 'identity') {
    const message = `The body has Content-Encoding ${coding}: send it without.`;
    throw new ServiceRefusal('unsupported', message);
  }
  try {
    yield* env.body?.() ?? req.raw.body ?? [];
  } catch {
    throw malformed('The body is incomplete.');
  }
}

/** Returns the Content-Length, or NaN without one. Node.js reads no more bytes than that. */
export function declaredBytes(request: Request): number {
  return Number(request.headers.get('content-length') ?? Number.NaN);
}

function mediaType(request: Request): string {
  return mediaTypeIn(request.headers.get('content-type'));
}

/** Returns a media type in lower case, without its parameters. */
export function mediaTypeIn(text: string | null = ''): string {
  return text?.split(';')[0]?.trim().toLowerCase() ?? '';
}

function parse(bytes: Uint8Array): unknown {
  const json = textOf(bytes);
  try {
    return JSON.parse(json.replace(/^\ufeff/, ''));
  } catch {
    // The parser's own message quotes the input, which may contain the secret.
    throw malformed('The body is not valid JSON.');
  }
}

export function textOf(bytes: Uint8Array): string {
  const text = utf8(bytes);
  if (text !== undefined) return text;
  throw malformed('The body is not valid UTF-8.');
}

/** Counts the bytes that arrive, as a body may have no Content-Length. */
async function readBytes(
  c: Context<Env>,
  limit: number,
  check?: (chunk: Uint8Array) => void,
): Promise<Uint8Array> {
  if (declaredBytes(c.req.raw) > limit) throw tooLarge(limit);
  const bytes = new Collected();
  for await (const chunk of bodyOf(c)) {
    if (bytes.size + chunk.length > limit) throw tooLarge(limit);
    c.get('memory').add(chunk.length);
    check?.(chunk);
    bytes.add(chunk);
  }
  // The caller processes all bytes at once, so other HTTP requests come first.
  if (bytes.size > LARGE) await setImmediate();
  return bytes.whole();
}

import { size } from '../../contract/byte-size';
import { valuesIn } from '../../contract/json';
import { busy, Refusal } from '../service-errors';
import { formFields, utf8 } from './form-fields';
import type { ClientSocket } from './request-origin';

/*
 * Our own body limit, not hono/body-limit: that trusts Content-Length, and has neither a budget for all requests
 * together nor 100 Continue.
 */

/** A payload of 1 MiB takes up to six times that in JSON escapes; the rest is for the other fields. */
const PUSH_BYTES = 8 * 1024 * 1024;
/** Of a form on our own pages. */
const FORM_BYTES = 16 * 1024;
const NAMES = { push: /^push\[(\w+)\](\[\])?$/, request: /^request\[(\w+)\](\[\])?$/ } as const;
const FIELD = { push: 'push[payload]', request: 'request[request]' } as const;
const FORM_TYPE = 'application/x-www-form-urlencoded';
/** A creation has fewer than 20. 8 MiB of `[],` would take half a gibibyte once parsed. */
const JSON_VALUES = 1000;

export type BodyRoot = 'push' | 'request';

/**
 * The `push` or `request` object of a body without files, in JSON or as a form (docs/wire.md, "Creation bodies"). The
 * body counts as memory in use.
 * @throws Refusal for any other body
 */
export async function readFields(
  request: Request,
  connection: ClientSocket,
  memory: MemoryUse,
  root: BodyRoot = 'push',
): Promise<object> {
  const type = mediaType(request);
  if (type !== 'application/json' && type !== FORM_TYPE) {
    throw new Refusal(
      'malformed',
      'The body must be JSON or a form, and its Content-Type must say so.',
    );
  }
  const bytes = await readBytes(request, connection, PUSH_BYTES, memory);
  return type === FORM_TYPE ? fieldsOfForm(bytes, root) : fieldsOfJson(parse(bytes), root);
}

/** The reference also takes the fields of a push without the `push` around them. */
function fieldsOfJson(body: unknown, root: BodyRoot): object {
  const bare = isObject(body) && root === 'push' && 'payload' in body ? body : undefined;
  const fields = isObject(body) && root in body ? (body as Record<string, unknown>)[root] : bare;
  if (isObject(fields)) return fields;
  throw new Refusal('malformed', `The body must be an object with a \`${root}\` object.`);
}

function fieldsOfForm(form: Uint8Array, root: BodyRoot): object {
  const fields = new Map<string, string | string[]>();
  const names = NAMES[root];
  for (const [name, value] of formFields(form, (one) => names.test(one))) {
    const [, field = '', list] = names.exec(name) ?? [];
    fields.set(field, list ? [value] : value);
  }
  if (fields.size === 0)
    throw new Refusal('malformed', `The form must have fields like ${FIELD[root]}.`);
  return Object.fromEntries(fields);
}

/** Whether a push in JSON or a form asks for files, which only multipart/form-data can contain. */
export function asksForFiles(push: object): boolean {
  const { files, kind } = push as { files?: unknown; kind?: unknown };
  return (files !== undefined && files !== null) || kind === 'file';
}

/**
 * The fields of a form on our own pages; none of any other body.
 * @throws Refusal when it is too large or not valid
 */
export async function readForm(
  request: Request,
  connection: ClientSocket,
  memory: MemoryUse,
): Promise<ReadonlyMap<string, string>> {
  if (mediaType(request) !== FORM_TYPE) return new Map();
  return new Map(formFields(await readBytes(request, connection, FORM_BYTES, memory), () => true));
}

export function isMultipart(request: Request): boolean {
  return mediaType(request) === 'multipart/form-data';
}

/**
 * The bytes of a body as they arrive.
 * @throws Refusal when the body is incomplete
 */
export async function* bodyOf(request: Request, connection: ClientSocket) {
  try {
    yield* connection.body?.() ?? request.body ?? [];
  } catch {
    throw new Refusal('malformed', 'The body is incomplete.');
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
    throw new Refusal('malformed', `The body contains more than ${JSON_VALUES} values.`);
  const json = utf8(bytes);
  if (json === undefined) throw new Refusal('malformed', 'The body is not valid UTF-8.');
  try {
    return JSON.parse(json.replace(/^\ufeff/, ''));
  } catch {
    // The parser's own message quotes the input, which may contain the secret.
    throw new Refusal('malformed', 'The body is not valid JSON.');
  }
}

/** Counts the bytes that arrive; Content-Length alone does not suffice. */
async function readBytes(
  request: Request,
  connection: ClientSocket,
  limit: number,
  memory: MemoryUse,
): Promise<Uint8Array> {
  // Refused before it is sent.
  if (Number(request.headers.get('content-length')) > limit) throw tooLarge(limit);
  const bytes = new Collected();
  for await (const chunk of bodyOf(request, connection)) {
    if (bytes.size + chunk.length > limit) throw tooLarge(limit);
    memory.add(chunk.length);
    bytes.add(chunk);
  }
  return bytes.whole();
}

export function tooLarge(limit: number, what = 'The body is'): Refusal {
  return new Refusal('too_large', `${what} larger than ${size(limit)}.`);
}

/** Bytes of each request that do not count, so that a password can be pushed while large bodies use up the budget. */
const SMALL = 16 * 1024;
/** One client gets a quarter of the budget. */
const SHARES = 4;

/** Limits the memory, in bytes, of bodies that are being received and responses that have not been sent. */
export class BodyBudget {
  private used = 0;
  private readonly byClient = new Map<string, number>();

  /** @param most bytes */
  constructor(private readonly most: number) {}

  /** The memory of one request, part of the client's share; a request without a client may take the whole budget. */
  forRequest(client: string | undefined): MemoryUse {
    return new MemoryUse((bytes) => this.change(bytes, client));
  }

  /** Returns whether the budget and the client's share still suffice. */
  private change(bytes: number, client: string | undefined): boolean {
    this.used += bytes;
    if (client === undefined) return this.used <= this.most;
    const own = (this.byClient.get(client) ?? 0) + bytes;
    if (own > 0) this.byClient.set(client, own);
    else this.byClient.delete(client);
    return this.used <= this.most && own <= this.most / SHARES;
  }
}

/** The memory that one request takes, in bytes. The caller releases it in any case. */
export class MemoryUse {
  private bytes = 0;

  constructor(private readonly change: (bytes: number) => boolean) {}

  get isEmpty(): boolean {
    return this.bytes === 0;
  }

  /** @throws Refusal (busy) when the budget does not suffice; the bytes do not count then */
  add(bytes: number): void {
    if (this.count(bytes) || this.counted === 0) return;
    this.count(-bytes);
    throw busy('Too many requests are in progress. Try again later.');
  }

  release(): void {
    this.change(-this.counted);
    this.bytes = 0;
  }

  private count(bytes: number): boolean {
    const before = this.counted;
    this.bytes += bytes;
    return this.change(this.counted - before);
  }

  private get counted(): number {
    return Math.max(0, this.bytes - SMALL);
  }
}

const BLOCK = 64 * 1024;

/** Collects a body from chunks. It copies them: a chunk of one byte would keep 300 bytes of memory. */
export class Collected {
  size = 0;
  private readonly blocks: Buffer[] = [];
  /** The free part of the last block. */
  private free: Uint8Array = new Uint8Array();

  add(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length; ) {
      if (this.free.length === 0) this.grow(chunk.length - from);
      const part = chunk.subarray(from, from + this.free.length);
      this.free.set(part);
      this.free = this.free.subarray(part.length);
      from += part.length;
    }
    this.size += chunk.length;
  }

  whole(): Buffer {
    return Buffer.concat(this.blocks, this.size);
  }

  private grow(wanted: number): void {
    const block = Buffer.allocUnsafe(Math.min(BLOCK, Math.max(wanted, this.size, 1024)));
    this.blocks.push(block);
    this.free = block;
  }
}

import type { Context } from 'hono';
import { hasAtMost, limits } from '../../contract/api';
import type { Upload } from '../rules/files';
import { invalid, malformed, ServiceRefusal } from '../service-errors';
import { needsToken } from './authentication';
import {
  asksForFiles,
  type BodyRoot,
  bodyOf,
  FIELD_BYTES,
  isMultipart,
  readFields,
  tooLarge,
} from './body';
import { Collected, type MemoryUse } from './body-memory';
import type { Env } from './env';
import { utf8 } from './form-fields';
import { type Part, readDisposition, readParts } from './multipart';

/** Maximum of all boundaries and part headers together. */
const FRAME_BYTES = 2 * 1024 * 1024;
const NAME_CHARACTERS = 255;

/** What an upload may hold: a batch of sealed chunks (`Upload`), the next one, and what the parser and the socket have read. */
const UPLOAD_BYTES = 768 * 1024;

/** Bytes that a request may have, with files of up to `fileBytes`. */
export const mostBytes = (fileBytes: number) =>
  FIELD_BYTES + FRAME_BYTES + limits.filesPerPush * fileBytes;

/** The fields of a body, of any type. */
export type BodyFields = Record<string, unknown>;

/** What a body may have. */
export interface Wanted {
  readonly root: BodyRoot;
  /** Whether its sender may take time before files begin too: by a token, or the link of an open request. */
  readonly accepted: boolean;
  /** Begins the upload of files, which come after these fields. Undefined for a caller who may not send files. */
  readonly begin: ((before: BodyFields) => Promise<Upload>) | undefined;
  /** Maximum size of a file. */
  readonly fileBytes: number;
}

/** What has arrived of a body. */
interface ArrivedBody {
  readonly fields: BodyFields;
  readonly upload: Upload | undefined;
  /** Why it was read no further. */
  readonly refusal?: unknown;
}

/**
 * Reads a body of fields, or of fields and files, and calls `work` with them. Files that `work` has not attached to a push
 * are discarded.
 * @throws ServiceRefusal for any other body
 */
export async function withBody<T>(
  c: Context<Env>,
  wanted: Wanted,
  work: (fields: BodyFields, upload: Upload | undefined) => Promise<T>,
): Promise<T> {
  // In no variable of what waits, so that the fields can be freed while a passphrase waits to be hashed.
  return readBody(c, wanted).then(({ fields, upload, refusal }) => {
    const done = refusal === undefined ? work(fields, upload) : Promise.reject(refusal);
    return done.finally(() => upload?.discard());
  });
}

/** The text of a field; '' if it has none. */
export function textIn(fields: BodyFields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

/** Reads a body to its end, or until it is refused. The caller discards the upload in any case. */
export async function readBody(
  c: Context<Env>,
  { root, accepted, begin, fileBytes }: Wanted,
): Promise<ArrivedBody> {
  // Without a prototype, which a field `__proto__` would replace.
  const fields: BodyFields = Object.create(null);
  let upload: Upload | undefined;
  try {
    if (!begin && announcesFiles(c.req.raw)) throw needsToken();
    if (isMultipart(c.req.raw)) {
      if (accepted) c.env.accept?.();
      const chunks = keepingAlive(bodyOf(c), () => upload);
      await readFormParts(c, chunks, { root, fileBytes }, async (part) => {
        if ('value' in part) fields[part.field] = part.value;
        else {
          if (!begin) throw new ServiceRefusal('unauthorized', 'Files require an API token.');
          if (!upload) {
            c.get('memory').add(Math.min(declared(c.req.raw) ?? UPLOAD_BYTES, UPLOAD_BYTES));
            upload = await begin(fields);
            c.env.accept?.();
          }
          await upload.add(headOf(part), part.bytes);
        }
      });
    } else {
      Object.assign(fields, await readFields(c, root));
      if (!begin && asksForFiles(fields)) throw needsToken();
    }
    return { fields, upload };
  } catch (refusal) {
    return { fields, upload, refusal };
  }
}

/** Whether the request headers show that a form contains files: by Expect: 100-continue, or by its length. */
function announcesFiles(request: Request): boolean {
  const waits = request.headers.get('expect') !== null;
  return isMultipart(request) && (waits || (declared(request) ?? 0) > FIELD_BYTES + FRAME_BYTES);
}

interface SentFile {
  readonly filename: string;
  readonly type: string | undefined;
  /** Must be read to the end. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/**
 * Reads a body in `multipart/form-data` (docs/wire.md, "Creation bodies"), and passes the fields and files of its `push` or
 * `request` object to `take`, one after another as they arrive.
 * @throws ServiceRefusal as soon as a limit is exceeded
 */
async function readFormParts(
  c: Context<Env>,
  chunks: AsyncIterable<Uint8Array>,
  { root, fileBytes }: Pick<Wanted, 'root' | 'fileBytes'>,
  take: (part: { readonly field: string; readonly value: string } | SentFile) => Promise<void>,
): Promise<void> {
  const most = mostBytes(fileBytes);
  if ((declared(c.req.raw) ?? 0) > most) throw tooLarge(most);
  const values = new FieldBytes(c.get('memory'));
  await readParts(chunks, c.req.header('content-type') ?? '', async (part) => {
    const { name, filename } = dispositionOf(part);
    const [, of, field] = /^(\w+)\[(\w+)\](?:\[\])?$/.exec(name) ?? [];
    const isFile = of === root && field === 'files';
    if (isFile && filename !== undefined) {
      const bytes = filename === '' ? await unlessEmpty(part.bytes) : part.bytes;
      return bytes && take({ filename, type: part.head['content-type'], bytes });
    }
    const bytes = await values.collect(part.bytes);
    // Browsers and Rails send an empty field when no file was chosen.
    if (isFile && bytes.length > 0) throw invalid({ files: ['A file requires a filename.'] });
    if (of === root && field && !isFile && !name.endsWith('[]'))
      await take({ field, value: text(bytes) });
  });
}

/** @throws ServiceRefusal when its name is too long */
function headOf({ filename, type }: SentFile): { name: string; type: string } {
  const name = safeFileName(filename);
  if (hasAtMost(name, NAME_CHARACTERS)) return { name, type: baseMediaType(type) };
  throw invalid({
    files: [`A filename is too long (maximum is ${NAME_CHARACTERS} characters).`],
  });
}

/** Undefined for the empty file that browsers send when none was chosen. */
async function unlessEmpty(bytes: AsyncIterable<Uint8Array>) {
  const pieces = bytes[Symbol.asyncIterator]();
  const first = await pieces.next();
  if (first.done) return undefined;
  return (async function* () {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => pieces };
  })();
}

function dispositionOf({ head }: Part) {
  const disposition = readDisposition(head['content-disposition'] ?? '');
  if (disposition) return disposition;
  throw malformed('The form is invalid: a part has no name.');
}

/** The bytes of the fields of a form, which stay in memory until the form ends. */
class FieldBytes {
  private size = 0;

  constructor(private readonly memory: MemoryUse) {}

  async collect(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
    const field = new Collected();
    for await (const piece of bytes) {
      this.size += piece.length;
      if (this.size > FIELD_BYTES) throw tooLarge(FIELD_BYTES, 'The fields are');
      this.memory.add(piece.length);
      field.add(piece);
    }
    return field.whole();
  }
}

function text(bytes: Uint8Array): string {
  const decoded = utf8(bytes);
  if (decoded !== undefined) return decoded;
  throw malformed('The body is not valid UTF-8.');
}

/** The chunks of the body, each of which keeps the upload alive. */
async function* keepingAlive(body: AsyncIterable<Uint8Array>, upload: () => Upload | undefined) {
  for await (const chunk of body) {
    await upload()?.touch();
    yield chunk;
  }
}

/** The size of the body, if its head has it: Node.js reads no more. */
function declared(request: Request): number | undefined {
  const length = request.headers.get('content-length') ?? '';
  return /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

/** A file name that is safe to show and save: the last component, without control and direction characters. */
function safeFileName(filename: string): string {
  const base = filename.replace(/^.*[/\\]/s, '').replace(UNSAFE, '_');
  return /^\.{0,2}$/.test(base) ? 'file' : base;
}

/** Controls, line and paragraph separators, and the marks and overrides of writing direction. */
const UNSAFE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The media type without its parameters; application/octet-stream when it is invalid. */
function baseMediaType(text: string | undefined): string {
  const type = (text ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const token = "[a-z0-9!#$%&'*+.^_`|~-]{1,127}";
  return new RegExp(`^${token}/${token}$`).test(type) ? type : 'application/octet-stream';
}

import type { Context } from 'hono';
import { limits } from '../../contract/api';
import type { Upload } from '../rules/files';
import { hasAtMost } from '../rules/new-push';
import { invalid, malformed, Refusal } from '../service-errors';
import { type BodyRoot, bodyOf, isMultipart, tooLarge } from './body';
import { Collected, type MemoryUse } from './body-memory';
import { utf8 } from './form-fields';
import { type Part, readDisposition, readParts } from './multipart';
import type { Env } from './parts';

/** Maximum of all fields together; the payload alone may take 1 MiB. */
const FIELD_BYTES = 2 * 1024 * 1024;
/** Maximum of all boundaries and part headers together. */
const FRAME_BYTES = 2 * 1024 * 1024;
const NAME_CHARACTERS = 255;

/** Whether the request headers show that a form contains files: by Expect: 100-continue, or by its length. */
export function announcesFiles(request: Request): boolean {
  const waits = request.headers.get('expect') !== null;
  return isMultipart(request) && (waits || declared(request) > FIELD_BYTES + FRAME_BYTES);
}

/** Begins the upload of files when the first one arrives. */
type BeginUpload = () => Promise<Upload>;

/** What a body may have. */
export interface Wanted {
  readonly root: BodyRoot;
  /** Undefined for a caller who may not send files. */
  readonly begin: BeginUpload | undefined;
  /** Maximum size of a file. */
  readonly fileBytes: number;
  /** Filled as they are read, so that a caller has them when a later part is refused. */
  readonly fields?: Record<string, unknown>;
}

/**
 * Reads a body in `multipart/form-data` (docs/wire.md, "Creation bodies"): returns the `push` or `request` object, and
 * passes each file to the upload as it arrives.
 * @throws Refusal as soon as a limit is exceeded
 */
export async function readMultipart(
  c: Context<Env>,
  { root, begin, fileBytes, fields }: Required<Wanted>,
): Promise<Record<string, unknown>> {
  const most = FIELD_BYTES + FRAME_BYTES + limits.filesPerPush * fileBytes;
  if (declared(c.req.raw) > most) throw tooLarge(most);
  const values = new Fields(c.get('memory'));
  const type = c.req.header('content-type') ?? '';
  let upload: Upload | undefined;
  const chunks = keepingAlive(bodyOf(c), () => upload);
  const beginOnce = async () => {
    if (!begin) throw new Refusal('unauthorized', 'Files require an API token.');
    upload ??= await begin();
    return upload;
  };
  await readParts(chunks, type, async (part) => {
    const { name, filename } = dispositionOf(part);
    const [, of, field] = /^(\w+)\[(\w+)\](?:\[\])?$/.exec(name) ?? [];
    const isFile = of === root && field === 'files';
    if (isFile && filename !== undefined) return takeFile(part, filename, beginOnce);
    const bytes = await values.collect(part.bytes);
    // Browsers and Rails send an empty field when no file was chosen.
    if (isFile && bytes.length > 0) throw invalid({ files: ['A file requires a filename.'] });
    if (of === root && field && !isFile && !name.endsWith('[]')) fields[field] = text(bytes);
  });
  return fields;
}

async function takeFile(part: Part, filename: string, begin: BeginUpload): Promise<void> {
  const bytes = filename === '' ? await unlessEmpty(part.bytes) : part.bytes;
  if (!bytes) return;
  const upload = await begin();
  const name = safeFileName(filename);
  if (!hasAtMost(name, NAME_CHARACTERS)) {
    throw invalid({
      files: [`A filename is too long (maximum is ${NAME_CHARACTERS} characters).`],
    });
  }
  await upload.add({ name, type: baseMediaType(part.head['content-type']) }, bytes);
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

/** The fields of a form, which stay in memory until the form ends. */
class Fields {
  private size = 0;

  constructor(private readonly memory: MemoryUse) {}

  async collect(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
    const field = new Collected();
    for await (const piece of bytes) {
      this.size += piece.length;
      if (this.size > FIELD_BYTES) throw tooLarge(FIELD_BYTES, 'The fields of the form are');
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

function declared(request: Request): number {
  const length = request.headers.get('content-length') ?? '';
  return /^\d{1,15}$/.test(length) ? Number(length) : 0;
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

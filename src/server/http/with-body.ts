import type { Context } from 'hono';
import { hasAtMost, limits } from '../../contract/api';
import type { Upload } from '../rules/files';
import { invalid, ServiceRefusal, tooLarge } from '../service-errors';
import { needsToken } from './authentication';
import {
  asksForFiles,
  type BodyRoot,
  bodyOf,
  declaredBytes,
  FIELD_BYTES,
  fieldNamed,
  isMultipart,
  mediaTypeIn,
  readFields,
  textOf,
} from './body';
import { Collected } from './body-memory';
import type { Env } from './env';
import { partsOf } from './multipart';

/** Maximum bytes of all boundaries and part headers together. */
const FRAME_BYTES = 2 * 1024 * 1024;
const NAME_CHARACTERS = 255;

/** Bytes of memory of an upload: a batch of sealed chunks (`Upload`), the next one, and what parser and socket hold. */
const UPLOAD_BYTES = 768 * 1024;

/** Maximum bytes of a body with files of up to `maxFileSize` bytes. */
export const mostBytes = (maxFileSize: number) =>
  FIELD_BYTES + FRAME_BYTES + limits.filesPerPush * maxFileSize;

/** Values of fields by name, which nobody has validated. */
export type BodyFields = Record<string, unknown>;

export interface BodyPlan {
  readonly root: BodyRoot;
  /** Whether a token, or the link of a request for a secret, accepted the sender, which lifts the time limit. */
  readonly accepted: boolean;
  readonly takesFiles: boolean;
  readonly maxFileSize: number;
}

interface SentField {
  readonly field: string;
  readonly value: unknown;
}

interface SentFile {
  readonly filename: string;
  readonly type: string | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/**
 * Calls `work` with a body of fields, or of fields and files, that has not been read. Files that `work` has not
 * attached to a push are discarded.
 */
export async function withBody<T>(
  c: Context<Env>,
  plan: BodyPlan,
  work: (body: ArrivingBody) => Promise<T>,
): Promise<T> {
  const body = new ArrivingBody(c, plan);
  try {
    return await work(body);
  } finally {
    await body.discard();
  }
}

/** A body that is read first up to its files, and later to its end. A refusal keeps the `fields` that have arrived. */
export class ArrivingBody {
  upload: Upload | undefined;
  /** An object without a prototype, which a field `__proto__` would replace. */
  fields: BodyFields = Object.create(null);
  private readonly parts: AsyncGenerator<SentField | SentFile>;
  /** The file that `readFiles` stores next. */
  private file: SentFile | undefined;

  constructor(
    private readonly c: Context<Env>,
    private readonly plan: BodyPlan,
  ) {
    this.parts = this.readParts();
  }

  /**
   * Reads fields up to the next file, if there is one, or to the end. Returns whether a file follows.
   * @throws ServiceRefusal for any other body, as soon as a limit is exceeded, and for files unless the plan takes them
   */
  async readFields(): Promise<boolean> {
    this.file = undefined;
    for (let next = await this.parts.next(); !next.done; next = await this.parts.next()) {
      const part = next.value;
      if ('bytes' in part) {
        this.file = part;
        return true;
      }
      this.fields[part.field] = part.value;
    }
    return false;
  }

  /**
   * Reads the rest, stores its files in the upload, and lifts the time limit of the body.
   * @throws ServiceRefusal as `readFields` does, and when the upload refuses a file
   */
  async readFiles(upload: Upload): Promise<void> {
    this.upload = upload;
    this.c.env.accept?.();
    for (; this.file; await this.readFields()) await upload.add(headOf(this.file), this.file.bytes);
  }

  /** Returns the fields and forgets them, so that they can be freed while a passphrase waits to be hashed. */
  takeFields(): BodyFields {
    const { fields } = this;
    this.fields = {};
    return fields;
  }

  /** Reads no further, and drops the files unless they belong to a push. */
  async discard(): Promise<void> {
    await this.parts.return(undefined).catch(() => undefined);
    await this.upload?.discard();
  }

  private async *readParts(): AsyncGenerator<SentField | SentFile> {
    const { c, plan } = this;
    if (!plan.takesFiles && announcesFiles(c.req.raw)) throw needsToken();
    if (isMultipart(c.req.raw)) {
      if (plan.accepted) c.env.accept?.();
      yield* formParts(c, plan, this.keepingAlive());
      return;
    }
    for (const [field, value] of await readFields(c, plan.root)) yield { field, value };
    if (!plan.takesFiles && asksForFiles(this.fields)) throw needsToken();
  }

  private async *keepingAlive(): AsyncGenerator<Uint8Array> {
    for await (const chunk of bodyOf(this.c)) {
      await this.upload?.touch();
      yield chunk;
    }
  }
}

/** Returns '' for a field that is missing or not a string. */
export function textIn(fields: BodyFields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

/** Whether the request headers show that a form contains files: by Expect: 100-continue, or by its length. */
function announcesFiles(request: Request): boolean {
  const waits = request.headers.get('expect') !== null;
  return isMultipart(request) && (waits || declaredBytes(request) > FIELD_BYTES + FRAME_BYTES);
}

/** Yields the fields and files of the `push` or `request` object of a form (docs/wire.md, "Creation bodies"). */
async function* formParts(
  c: Context<Env>,
  plan: BodyPlan,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<SentField | SentFile> {
  const most = mostBytes(plan.maxFileSize);
  if (declaredBytes(c.req.raw) > most) throw tooLarge(most);
  const memory = c.get('memory');
  let [size, hasFiles] = [0, false];
  for await (const part of partsOf(chunks, c.req.header('content-type') ?? '')) {
    const { name, filename, type, isEmpty, bytes } = part;
    const { root, field, isList } = fieldNamed(name);
    const isFile = root === plan.root && field === 'files';
    // Browsers send an empty file without a name, and Rails an empty field, when none was chosen.
    if (isFile && isEmpty && !filename) continue;
    if (isFile) {
      if (filename === undefined) throw invalid({ files: ['A file requires a filename.'] });
      if (!plan.takesFiles) throw new ServiceRefusal('unauthorized', 'Files require an API token.');
      if (!hasFiles) memory.add(Math.min(declaredBytes(c.req.raw) || UPLOAD_BYTES, UPLOAD_BYTES));
      hasFiles = true;
      yield { filename, type, bytes };
      continue;
    }
    const value = new Collected();
    for await (const piece of bytes) {
      size += piece.length;
      if (size > FIELD_BYTES) throw tooLarge(FIELD_BYTES, 'The fields are');
      memory.add(piece.length);
      value.add(piece);
    }
    if (root === plan.root && !isList) yield { field, value: textOf(value.whole()) };
  }
}

/** @throws ServiceRefusal when its name is too long */
function headOf({ filename, type }: SentFile): { name: string; type: string } {
  const name = safeFileName(filename);
  if (hasAtMost(name, NAME_CHARACTERS)) return { name, type: baseMediaType(type) };
  throw invalid({
    files: [`A filename is too long (maximum is ${NAME_CHARACTERS} characters).`],
  });
}

/** Returns a name that is safe to show and save: the last component, without control and direction characters. */
function safeFileName(filename: string): string {
  const base = filename.replace(/^.*[/\\]/s, '').replace(UNSAFE, '_');
  return /^\.{0,2}$/.test(base) ? 'file' : base;
}

/** Controls, line and paragraph separators, and the marks and overrides of writing direction. */
const UNSAFE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Returns the media type without its parameters; application/octet-stream when it is invalid. */
function baseMediaType(text: string | undefined): string {
  const type = mediaTypeIn(text);
  const token = "[a-z0-9!#$%&'*+.^_`|~-]{1,127}";
  return new RegExp(`^${token}/${token}$`).test(type) ? type : 'application/octet-stream';
}

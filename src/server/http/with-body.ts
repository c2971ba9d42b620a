import type { Context } from 'hono';
import type { Upload } from '../rules/files';
import { needsToken } from './authentication';
import { asksForFiles, type BodyRoot, isMultipart, readFields } from './body';
import { announcesFiles, type BeginUpload, readMultipart } from './multipart-push';
import type { Env } from './parts';

/** The fields of a body, of any type. */
export type Fields = Record<string, unknown>;

/** Without a prototype, which a field `__proto__` would replace. */
export function noFields(): Fields {
  return Object.create(null);
}

/** The text of a field; '' if it has none. */
export function textIn(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

interface Wanted {
  readonly root: BodyRoot;
  /** Undefined for a caller who may not send files. */
  readonly begin: BeginUpload | undefined;
  /** Maximum size of a file. */
  readonly fileBytes: number;
  /** Filled as they are read, so that a caller has them when a later part is refused. */
  readonly fields?: Fields;
}

/**
 * Reads a body of fields, or of fields and files, and calls `work` with them. Files that `work` has not attached to a push
 * are discarded.
 * @throws Refusal for any other body
 */
export async function withBody<T>(
  c: Context<Env>,
  { begin, ...wanted }: Wanted,
  work: (fields: Fields, upload: Upload | undefined) => Promise<T>,
): Promise<T> {
  let upload: Upload | undefined;
  const beginHere = begin && (async () => (upload = await begin()));
  try {
    // In no variable, so that the fields can be freed while a passphrase waits to be hashed.
    return await work(await readBody(c, { begin: beginHere, ...wanted }), upload);
  } finally {
    // What cannot be discarded now is left to the sweep.
    await upload?.discard().catch(() => undefined);
  }
}

async function readBody(
  c: Context<Env>,
  { root, begin, fileBytes, fields = noFields() }: Wanted,
): Promise<Fields> {
  const { raw } = c.req;
  const memory = c.get('memory');
  if (!begin && announcesFiles(raw)) throw needsToken();
  if (isMultipart(raw))
    return readMultipart(raw, c.env, root, begin, { fileBytes, memory }, fields);
  Object.assign(fields, await readFields(raw, c.env, memory, root));
  if (!begin && asksForFiles(fields)) throw needsToken();
  return fields;
}

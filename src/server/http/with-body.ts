import type { Context } from 'hono';
import type { Upload } from '../rules/files';
import { needsToken } from './authentication';
import { asksForFiles, isMultipart, readFields } from './body';
import { announcesFiles, readMultipart, type Wanted } from './multipart-push';
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

async function readBody(c: Context<Env>, wanted: Wanted): Promise<Fields> {
  const { root, begin, fields = noFields() } = wanted;
  if (!begin && announcesFiles(c.req.raw)) throw needsToken();
  if (isMultipart(c.req.raw)) return readMultipart(c, { ...wanted, fields });
  Object.assign(fields, await readFields(c, root));
  if (!begin && asksForFiles(fields)) throw needsToken();
  return fields;
}

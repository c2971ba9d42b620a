import { type FileRow, listFiles } from '../store/file-rows';
import { findSecret, type PushRow, type SecretRow, type StoredPush } from '../store/push-rows';
import type { Sql } from '../store/sql';
import type { OfferedFile } from './files';

/** A text with its files, opened; without either when it is gone. */
export interface Content {
  readonly text: string | null;
  readonly files: readonly OfferedFile[];
}

export const NOTHING: Content = { text: null, files: [] };

/** An active row with its sealed content. */
export interface Sealed {
  readonly row: PushRow;
  readonly secret: SecretRow;
  readonly files: readonly FileRow[];
}

/** And with the data key, which opens it. */
export interface Opened extends Sealed {
  readonly key: Uint8Array;
}

/** Undefined if the secret is gone. Concurrent, as PostgreSQL answers both in one round trip. */
export async function sealedContent(sql: Sql, row: PushRow): Promise<Sealed | undefined> {
  const [secret, files] = await Promise.all([
    findSecret(sql, row.id),
    mayHaveFiles(row) ? listFiles(sql, row.id) : [],
  ]);
  return secret && { row, secret, files };
}

/** Bytes of memory for the text, twice: a page of kind url contains it twice. */
export function bytesOf({ secret }: Sealed): number {
  return 2 * (secret.payload?.length ?? 0);
}

export function mayHaveFiles({ kind }: StoredPush): boolean {
  return kind === 'file' || kind === 'request' || kind === 'answer';
}

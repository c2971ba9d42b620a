import { keepFilesUntil, listFiles } from '../store/file-rows';
import { findSecret, type PushRow, type StoredPush, takeSecret } from '../store/push-rows';
import type { Sql } from '../store/sql';
import { LINK_TIME } from './access';
import type { OfferedFile } from './files';
import type { TakenView } from './once';

/** A text with its files, opened; without either when it is gone. */
export interface TextWithFiles {
  readonly text: string | null;
  readonly files: readonly OfferedFile[];
}

export const NOTHING: TextWithFiles = { text: null, files: [] };

/** An active row with its sealed content, and whether its last view opens it. */
type Sealed = NonNullable<Awaited<ReturnType<typeof sealedContent>>>;

/** And with the data key, which opens it. */
export interface Opened extends Sealed {
  readonly key: Uint8Array;
}

/**
 * What a claim has opened, as it was before; undefined if the secret is gone. The last view, which has expired the row,
 * destroys the secret at once, and the files, which nothing in the database opens any more, when the links to them end.
 * Concurrent, as PostgreSQL answers all in one round trip.
 */
export async function sealedContent(sql: Sql, claimed: PushRow, now: number) {
  const { id, expires_at, created_at } = claimed;
  const isLast = claimed.expired_at !== null;
  const row = isLast ? { ...claimed, expired_at: null, updated_at: created_at } : claimed;
  const hasFiles = mayHaveFiles(row);
  const [secret, files] = await Promise.all([
    isLast ? takeSecret(sql, row) : findSecret(sql, id),
    hasFiles ? listFiles(sql, id) : [],
    isLast && hasFiles && keepFilesUntil(sql, id, Math.min(now + LINK_TIME, expires_at)),
  ]);
  return secret && { row, secret, files, isLast };
}

/** What is kept of a view that opened these, the first of which was asked for. */
export function takenOf(opened: readonly [Opened, ...Opened[]], isLast: boolean): TakenView {
  const texts = opened.map(({ row, secret }) => ({ id: row.id, payload: secret.payload }));
  return {
    views: opened[0].row.views,
    keys: opened.map(({ key }) => key),
    spent: isLast ? texts : [],
  };
}

/** Bytes of memory for a text of that length, twice: a page of kind url contains it twice. */
export function memoryFor(length = 0): number {
  return 2 * length;
}

export function mayHaveFiles({ kind }: StoredPush): boolean {
  return kind === 'file' || kind === 'request' || kind === 'answer';
}

import { first, hasRows, type Sql } from './sql';

export interface FileRow {
  /** Index of the file in its push, from 0. */
  readonly position: number;
  /** Name, type and size, sealed. */
  readonly header: Uint8Array;
}

export interface ChunkRow {
  /** The position of the chunk's file. */
  readonly position: number;
  /** Index of the chunk in its file, from 0. */
  readonly number: number;
  readonly sealed: Uint8Array;
}

/** Chunks deleted per transaction (512 KiB): other transactions wait briefly, and the log fits on a full disk. */
const PIECE = 8;

/** The `ends_at` of files that nobody may read any more, including downloads in progress. */
const AT_ONCE = 0;

export async function insertUpload(sql: Sql, now: number): Promise<number> {
  const rows = await sql<{ id: number }>`
    INSERT INTO uploads (touched_at) VALUES (${now}) RETURNING id`;
  return (rows[0] as { id: number }).id;
}

export async function touchUpload(sql: Sql, id: number, now: number): Promise<void> {
  await sql`UPDATE uploads SET touched_at = ${now} WHERE id = ${id}`;
}

export async function insertChunks(sql: Sql, id: number, chunks: readonly ChunkRow[]) {
  for (const { position, number, sealed } of chunks) {
    await sql`
      INSERT INTO chunks (upload_id, position, number, sealed)
      VALUES (${id}, ${position}, ${number}, ${sealed})`;
  }
}

/** Attaches an upload to its push; returns false when it was abandoned. */
export async function keepUpload(sql: Sql, id: number, pushId: number, files: readonly FileRow[]) {
  const rows = await sql`
    UPDATE uploads SET push_id = ${pushId}
    WHERE id = ${id} AND push_id IS NULL AND ends_at IS NULL
    RETURNING id`;
  if (rows.length === 0) return false;
  for (const { position, header } of files) {
    await sql`
      INSERT INTO files (upload_id, position, header) VALUES (${id}, ${position}, ${header})`;
  }
  return true;
}

export function listFiles(sql: Sql, pushId: number): Promise<FileRow[]> {
  return sql<FileRow>`
    SELECT files.position, files.header
    FROM files JOIN uploads ON uploads.id = files.upload_id
    WHERE uploads.push_id = ${pushId}
    ORDER BY files.position`;
}

/** Finds a file while its push is active, and after the last view until `ends_at`. */
export function findFile(sql: Sql, pushId: number, position: number, now: number) {
  return first(sql<FileRow & { readonly upload_id: number }>`
    SELECT files.upload_id, files.position, files.header
    FROM files
    JOIN uploads ON uploads.id = files.upload_id
    JOIN pushes ON pushes.id = uploads.push_id
    WHERE pushes.id = ${pushId} AND files.position = ${position} AND (uploads.ends_at > ${now}
      OR (pushes.expired_at IS NULL AND pushes.expires_at > ${now}))`);
}

export async function findChunk(sql: Sql, uploadId: number, position: number, number: number) {
  const rows = await sql<{ sealed: Uint8Array }>`
    SELECT sealed FROM chunks
    WHERE upload_id = ${uploadId} AND position = ${position} AND number = ${number}
      AND NOT EXISTS (SELECT 1 FROM uploads WHERE id = ${uploadId} AND ends_at = ${AT_ONCE})`;
  return rows[0]?.sealed;
}

export async function keepFilesUntil(sql: Sql, pushId: number, time: number): Promise<void> {
  await sql`UPDATE uploads SET ends_at = ${time} WHERE push_id = ${pushId}`;
}

/** Ends the files of a push at once; returns whether there were any. */
export function endFiles(sql: Sql, pushId: number): Promise<boolean> {
  return hasRows(sql`
    UPDATE uploads SET ends_at = ${AT_ONCE}
    WHERE push_id = ${pushId} AND (ends_at IS NULL OR ends_at > ${AT_ONCE})
    RETURNING id`);
}

/** Abandons an upload; returns false when it is attached to a push. */
export function abandonUpload(sql: Sql, id: number): Promise<boolean> {
  return hasRows(sql`
    UPDATE uploads SET ends_at = ${AT_ONCE} WHERE id = ${id} AND push_id IS NULL RETURNING id`);
}

export async function abandonStale(sql: Sql, before: number): Promise<void> {
  await sql`
    UPDATE uploads SET ends_at = ${AT_ONCE}
    WHERE push_id IS NULL AND touched_at <= ${before} AND ends_at IS NULL`;
}

/** An upload whose `ends_at` has passed. */
interface EndedUpload {
  readonly id: number;
  readonly push_id: number | null;
  /** Whether downloads in progress may finish. */
  readonly readable: boolean | number;
}

export function listEnded(sql: Sql, now: number) {
  return sql<EndedUpload>`
    SELECT id, push_id, ends_at <> ${AT_ONCE} AS readable FROM uploads WHERE ends_at <= ${now}`;
}

/** Deletes some chunks of an ended upload, and with the last ones its other rows; returns whether all are deleted. */
export async function dropPiece(sql: Sql, id: number): Promise<boolean> {
  // Locks the row, so that several services delete an upload one after the other.
  await sql`UPDATE uploads SET ends_at = ends_at WHERE id = ${id}`;
  const rows = await sql`
    DELETE FROM chunks WHERE id IN (SELECT id FROM chunks WHERE upload_id = ${id} LIMIT ${PIECE})
    RETURNING id`;
  if (rows.length === PIECE) return false;
  await sql`DELETE FROM files WHERE upload_id = ${id}`;
  await sql`DELETE FROM uploads WHERE id = ${id}`;
  return true;
}

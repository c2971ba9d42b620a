import type { Sql } from './sql';

/** A row of `files`: name, type and size, sealed. */
export interface FileRow {
  /** From 0, in the order they came. */
  readonly position: number;
  readonly header: Uint8Array;
}

/** A row of `chunks`. */
export interface ChunkRow {
  /** Of its file. */
  readonly position: number;
  /** From 0. */
  readonly number: number;
  readonly sealed: Uint8Array;
}

/** A file that may be read, and where its chunks are. */
export interface StoredFile extends FileRow {
  readonly upload_id: number;
}

/** Chunks deleted in one transaction, 1 MiB: others wait for it, and a full disk has room for its log. */
const PIECE = 16;

/** The `ends_at` of what nobody may read any more, not even a download that has begun. */
const AT_ONCE = 0;

/** Begins an upload that belongs to no push yet, and answers its id. */
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

/** Makes an upload part of its push; answers whether it was still there. */
export async function keepUpload(
  sql: Sql,
  id: number,
  pushId: number,
  files: readonly FileRow[],
): Promise<boolean> {
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

/** The file while its push is active, and after the last view until its end. */
export async function findFile(
  sql: Sql,
  pushId: number,
  position: number,
  now: number,
): Promise<StoredFile | undefined> {
  const rows = await sql<StoredFile>`
    SELECT files.upload_id, files.position, files.header
    FROM files
    JOIN uploads ON uploads.id = files.upload_id
    JOIN pushes ON pushes.id = uploads.push_id
    WHERE pushes.id = ${pushId} AND files.position = ${position} AND (uploads.ends_at > ${now}
      OR (pushes.expired_at IS NULL AND pushes.expires_at > ${now}))`;
  return rows[0];
}

export async function findChunk(
  sql: Sql,
  uploadId: number,
  position: number,
  number: number,
): Promise<Uint8Array | undefined> {
  const rows = await sql<{ sealed: Uint8Array }>`
    SELECT sealed FROM chunks
    WHERE upload_id = ${uploadId} AND position = ${position} AND number = ${number}
      AND NOT EXISTS (SELECT 1 FROM uploads WHERE id = ${uploadId} AND ends_at = ${AT_ONCE})`;
  return rows[0]?.sealed;
}

/** Lets the files of a push that has ended be read until then. */
export async function keepFilesUntil(sql: Sql, pushId: number, at: number): Promise<void> {
  await sql`UPDATE uploads SET ends_at = ${at} WHERE push_id = ${pushId}`;
}

/** Ends the files of a push: nobody can read them from now on. Answers whether there were any left. */
export async function endFiles(sql: Sql, pushId: number): Promise<boolean> {
  const rows = await sql`
    UPDATE uploads SET ends_at = ${AT_ONCE}
    WHERE push_id = ${pushId} AND (ends_at IS NULL OR ends_at > ${AT_ONCE})
    RETURNING id`;
  return rows.length > 0;
}

/** Keeps an upload from ever becoming part of a push; answers whether it is not part of one already. */
export async function abandonUpload(sql: Sql, id: number): Promise<boolean> {
  const rows = await sql`
    UPDATE uploads SET ends_at = ${AT_ONCE} WHERE id = ${id} AND push_id IS NULL RETURNING id`;
  return rows.length > 0;
}

/** The same for those that nothing was heard of since `before`. */
export async function abandonStale(sql: Sql, before: number): Promise<void> {
  await sql`
    UPDATE uploads SET ends_at = ${AT_ONCE}
    WHERE push_id IS NULL AND touched_at <= ${before} AND ends_at IS NULL`;
}

/** An upload whose time is over. */
export interface EndedUpload {
  readonly id: number;
  readonly push_id: number | null;
  /** Whether a download that began in time may go on. */
  readonly readable: boolean;
}

export async function listEnded(sql: Sql, now: number): Promise<EndedUpload[]> {
  const rows = await sql<{ id: number; push_id: number | null; ends_at: number }>`
    SELECT id, push_id, ends_at FROM uploads WHERE ends_at <= ${now}`;
  return rows.map(({ id, push_id, ends_at }) => ({ id, push_id, readable: ends_at !== AT_ONCE }));
}

/** Deletes some chunks of an upload that has ended, and with the last ones the rest of it; answers whether that was all. */
export async function dropPiece(sql: Sql, id: number): Promise<boolean> {
  // Written to, so that of several services that come for the same upload one goes first.
  await sql`UPDATE uploads SET ends_at = ends_at WHERE id = ${id}`;
  const rows = await sql`
    DELETE FROM chunks WHERE id IN (SELECT id FROM chunks WHERE upload_id = ${id} LIMIT ${PIECE})
    RETURNING id`;
  if (rows.length === PIECE) return false;
  await sql`DELETE FROM files WHERE upload_id = ${id}`;
  await sql`DELETE FROM uploads WHERE id = ${id}`;
  return true;
}

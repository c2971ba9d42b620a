import type { NoteRow, StoredPush } from './push-rows';
import { mapped, plain, type Sql } from './sql';

export interface RowPage {
  readonly rows: number;
  /** The first page is 1. */
  readonly number: number;
}

/** An owner's pushes, requests, requests without an answer, or requests with one. */
export type Listed = 'push' | 'request' | 'open' | 'ready';

/** The conditions of the partial indexes, word by word: in other words, they would not be used. */
const conditions: Readonly<Record<Listed, string>> = {
  push: "kind NOT IN ('request', 'answer')",
  request: "kind = 'request'",
  open: "kind = 'request' AND answer_id IS NULL",
  ready: "kind = 'request' AND answer_id IS NOT NULL",
};

/** The statement for one page, by condition. Its subquery reads only the index for the rows of earlier pages. */
function listings(note: string, join: string, rowsOf: (condition: string) => string) {
  return mapped(conditions, (condition) =>
    plain(`
      SELECT pushes.*, ${note}
      FROM (${rowsOf(condition)}
        ORDER BY created_at DESC, id DESC
        LIMIT ? OFFSET ?) AS page
      JOIN pushes ON pushes.id = page.id ${join}
      ORDER BY pushes.created_at DESC, pushes.id DESC`),
  );
}

const activeListings = listings(
  'secrets.key_id, secrets.note_key, secrets.note',
  'LEFT JOIN secrets ON secrets.push_id = page.id',
  (condition) => `
    SELECT id FROM pushes
    WHERE owner_id = ? AND expired_at IS NULL AND expires_at > ? AND ${condition}`,
);

// The rows whose time has passed since the last sweep are few: for them, the unary `+` keeps SQLite from the owner's index.
const endedListings = listings(
  "'' AS key_id, NULL AS note_key, NULL AS note",
  '',
  (condition) => `
    SELECT id, created_at FROM pushes
    WHERE owner_id = ? AND expired_at IS NOT NULL AND ${condition}
    UNION ALL
    SELECT id, created_at FROM pushes
    WHERE +owner_id = ? AND expired_at IS NULL AND expires_at <= ? AND ${condition}`,
);

/** A page of an owner's rows, newest first: active ones, or those that have ended, whose notes are gone. */
export function listRecords(
  sql: Sql,
  { ownerId, listed, ended }: { ownerId: number; listed: Listed; ended: boolean },
  now: number,
  { rows, number }: RowPage,
) {
  const from = (number - 1) * rows;
  return ended
    ? sql<StoredPush & NoteRow>(endedListings[listed], ownerId, ownerId, now, rows, from)
    : sql<StoredPush & NoteRow>(activeListings[listed], ownerId, now, rows, from);
}
